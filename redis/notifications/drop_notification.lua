-- Drops a notification that was worked off, unless it was reported again since it was taken: then something else happened.
--
-- keys.due     zset   notifications by the time of the next try
-- keys.since   hash   when each was first received
-- given.notification
-- given.againAtMs   when it was to come up again, as its taker left it
--
-- Returns 1, or 0 when it stays.
for _, held in ipairs(redis.call('ZRANGEBYSCORE', keys.due, given.againAtMs, given.againAtMs)) do
  if held == given.notification then
    redis.call('ZREM', keys.due, held)
    redis.call('HDEL', keys.since, held)
    return 1
  end
end
return 0
