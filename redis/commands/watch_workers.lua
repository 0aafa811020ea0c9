-- Names the workers with a recent heartbeat, by the clock of Redis, and proves that they could write one: a server that
-- is full or read-only refuses heartbeats, and answers this script with its reason.
--
-- KEYS[1] heartbeats of workers zset   KEYS[2] heartbeats of watchers zset
-- ARGV[1] silence that counts as death, ms   ARGV[2] name of the watcher
--
-- Returns consumer names: any other consumer that holds entries is dead.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
local silenceMs = tonumber(ARGV[1])
redis.call('ZADD', KEYS[2], nowMs, ARGV[2])
-- A heartbeat from further ahead is of before the clock was set back: living workers have written another one, or will.
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. (nowMs - silenceMs), nowMs + silenceMs)
