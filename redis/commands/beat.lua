-- Writes the heartbeat of a worker, by the clock of Redis, which all workers share. Forgets workers that died long ago:
-- they count as dead with or without an entry, and each start has a name of its own.
--
-- keys.heartbeats       zset
-- given.consumer        name of the worker
-- given.forgetAfterMs   silence after which a worker is forgotten
--
-- Returns the time of the beat, ms.
-- include now_ms
local timeMs = nowMs()
redis.call('ZADD', keys.heartbeats, timeMs, given.consumer)
local forgotten = redis.call('ZRANGEBYSCORE', keys.heartbeats, '-inf', timeMs - given.forgetAfterMs, 'LIMIT', 0, 100)
if #forgotten > 0 then
  redis.call('ZREM', keys.heartbeats, unpack(forgotten))
end
return timeMs
