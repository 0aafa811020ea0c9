-- Names the workers that have said something lately, by the clock of Redis, and proves that they could: a server that is
-- full or read-only lets nobody write a sign of life, and answers this script with its reason.
--
-- KEYS[1] heartbeats of workers zset   KEYS[2] heartbeats of watchers zset
-- ARGV[1] silence that counts as death, ms   ARGV[2] name of the watcher
--
-- Returns consumer names: whoever holds entries and is not among them is dead.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
local silenceMs = tonumber(ARGV[1])
redis.call('ZADD', KEYS[2], nowMs, ARGV[2])
-- A sign from further ahead is of before the clock was set back: the living have given another one since, or will at once.
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. (nowMs - silenceMs), nowMs + silenceMs)
