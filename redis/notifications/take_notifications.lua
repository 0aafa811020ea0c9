-- Takes the notifications that are due. Each comes up again later, in case its taker dies.
--
-- keys.due     zset   notifications by the time of the next try
-- keys.since   hash   when each was first received
-- given.nowMs, given.againAtMs   now, and when they come up again; given.max how many
--
-- Returns notifications, each followed by the time at which it was first received.
local taken = {}
for _, held in ipairs(redis.call('ZRANGEBYSCORE', keys.due, '-inf', given.nowMs, 'LIMIT', 0, given.max)) do
  redis.call('ZADD', keys.due, given.againAtMs, held)
  taken[#taken + 1] = held
  taken[#taken + 1] = redis.call('HGET', keys.since, held) or given.nowMs
end
return taken
