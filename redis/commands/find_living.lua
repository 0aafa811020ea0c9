-- Names the workers with a recent heartbeat, by the clock of Redis.
--
-- KEYS[1] heartbeats zset
-- ARGV[1] silence that counts as death, ms
--
-- Returns consumer names: any other consumer that holds entries is dead.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
local silenceMs = tonumber(ARGV[1])
-- A heartbeat from further ahead is of before the clock was set back: living workers have written another one, or will.
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. (nowMs - silenceMs), nowMs + silenceMs)
