-- Names the workers that have said something lately, by the clock of Redis.
--
-- KEYS[1] heartbeats zset
-- ARGV[1] silence that counts as death, ms
--
-- Returns consumer names: whoever holds entries and is not among them is dead.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. (nowMs - tonumber(ARGV[1])), '+inf')
