-- Writes the heartbeat of a worker, by the clock of Redis, which all workers share. Forgets workers that died long ago:
-- they count as dead with or without an entry, and each start has a name of its own.
--
-- KEYS[1] heartbeats zset
-- ARGV[1] consumer name   ARGV[2] silence after which a worker is forgotten, ms
--
-- Returns the time of the beat, ms.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZADD', KEYS[1], nowMs, ARGV[1])
local forgotten = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', nowMs - tonumber(ARGV[2]), 'LIMIT', 0, 100)
if #forgotten > 0 then
  redis.call('ZREM', KEYS[1], unpack(forgotten))
end
return nowMs
