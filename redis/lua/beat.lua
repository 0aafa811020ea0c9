-- Says that a worker is alive, by the clock of Redis, which all workers share.
--
-- KEYS[1] heartbeats zset
-- ARGV[1] consumer name
--
-- Returns the time of the beat, ms.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZADD', KEYS[1], nowMs, ARGV[1])
return nowMs
