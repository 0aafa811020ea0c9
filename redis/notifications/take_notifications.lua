-- Takes the notifications that are due. Each comes up again later, in case its taker dies.
--
-- keys.due     zset   notifications by the time of the next try
-- keys.since   hash   from when the age of each counts: when it was first received, and later by each delay of a try, as by an
--                     outage of this service
-- given.nowMs, given.againAtMs   now, and when they come up again; given.max how many
--
-- Returns notifications, each followed by the time from which its age counts.
local taken = {}
local due = redis.call('ZRANGEBYSCORE', keys.due, '-inf', given.nowMs, 'WITHSCORES', 'LIMIT', 0, given.max)
for i = 1, #due, 2 do
  local held, lateMs = due[i], given.nowMs - due[i + 1]
  local sinceMs = (tonumber(redis.call('HGET', keys.since, held) or '') or given.nowMs - lateMs) + lateMs
  redis.call('ZADD', keys.due, given.againAtMs, held)
  redis.call('HSET', keys.since, held, sinceMs)
  taken[#taken + 1] = held
  taken[#taken + 1] = sinceMs
end
return taken
