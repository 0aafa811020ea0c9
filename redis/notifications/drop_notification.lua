-- Drops a notification that was worked off, unless it was reported again since it was taken: then something else happened.
--
-- KEYS[1] notifications by the time of the next try   zset   KEYS[2] when each was first received   hash
-- ARGV[1] the network's sale id                 ARGV[2] when it was to come up again, ms, as its taker left it
--
-- Returns 1, or 0 when it stays.
for _, held in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[2], ARGV[2])) do
  if held == ARGV[1] then
    redis.call('ZREM', KEYS[1], held)
    redis.call('HDEL', KEYS[2], held)
    return 1
  end
end
return 0
