-- Takes one request's worth from a bucket that fills at a steady rate, if there is as much (a "token bucket").
--
-- KEYS[1] the bucket: `[<format>,<requests>,<ms>]`, what was in it at that moment; absent or unreadable means full
-- ARGV[1] requests per second   ARGV[2] requests in a full bucket
-- ARGV[3] requests that stay in the bucket for others
--
-- Returns {1 or 0 (taken or not), requests left (rounded down), ms until there is one, ms until the bucket is full}.
-- What stays for others counts neither as left nor as there.
local perMs = tonumber(ARGV[1]) / 1000
local capacity = tonumber(ARGV[2])
local reserve = tonumber(ARGV[3])
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local level = capacity
local before, atMs = string.match(redis.call('GET', KEYS[1]) or '', '^%[1,([%d.]+),(%d+)%]$')
if tonumber(before) then
  -- A clock that was set back must not drain the bucket.
  local elapsedMs = math.max(0, nowMs - tonumber(atMs))
  level = math.min(capacity, tonumber(before) + elapsedMs * perMs)
end

local taken = 0
if level - reserve >= 1 then
  taken = 1
  level = level - 1
end
local fullAfterMs = math.ceil((capacity - level) / perMs)
redis.call('SET', KEYS[1], string.format('[1,%.6f,%.0f]', level, nowMs), 'PX', math.max(1, fullAfterMs))
local free = math.max(0, math.floor(level - reserve))
local retryAfterMs = math.ceil((reserve + 1 - level) / perMs)
return { taken, free, free > 0 and 0 or retryAfterMs, fullAfterMs }
