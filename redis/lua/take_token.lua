-- Takes one token from a bucket that fills at a steady rate, if there is one.
--
-- KEYS[1] the bucket: "<tokens> <ms>", the tokens at that moment; absent means full
-- ARGV[1] tokens per second
-- ARGV[2] tokens in a full bucket
-- Returns {1 or 0 (taken or not), tokens left (rounded down), ms until there is a token, ms until the bucket is full}
local per_ms = tonumber(ARGV[1]) / 1000
local capacity = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000

local tokens = capacity
local stored = redis.call('GET', KEYS[1])
if stored then
  local before, at = string.match(stored, '^(%S+) (%S+)$')
  -- A clock that was set back must not take tokens away.
  local elapsed = math.max(0, now - tonumber(at))
  tokens = math.min(capacity, tonumber(before) + elapsed * per_ms)
end

local taken = 0
if tokens >= 1 then
  taken = 1
  tokens = tokens - 1
end
local until_full = math.ceil((capacity - tokens) / per_ms)
redis.call('SET', KEYS[1], string.format('%.6f %.3f', tokens, now), 'PX', math.max(1, until_full))
return { taken, math.floor(tokens), tokens >= 1 and 0 or math.ceil((1 - tokens) / per_ms), until_full }
