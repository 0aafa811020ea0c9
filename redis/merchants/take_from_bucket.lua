-- Takes one request's worth from a bucket that fills at a steady rate, if there is as much (a "token bucket").
--
-- keys.bucket       string   `[<format>,<requests>,<ms>]`: what was in it at that moment; absent or unreadable means full
-- given.perSecond   requests that come back; given.burst requests in a full bucket
-- given.reserve     requests that stay in the bucket for others
--
-- Returns {1 or 0 (taken or not), requests left (rounded down), ms until there is one, ms until the bucket is full}.
-- What stays for others counts neither as left nor as there.
-- include now_ms
local perMs, reserve, timeMs = given.perSecond / 1000, given.reserve, nowMs()
local level = given.burst
local before, atMs = string.match(redis.call('GET', keys.bucket) or '', '^%[1,([%d.]+),(%d+)%]$')
if tonumber(before) then
  -- A clock that was set back must not drain the bucket.
  local elapsedMs = math.max(0, timeMs - tonumber(atMs))
  level = math.min(given.burst, tonumber(before) + elapsedMs * perMs)
end
local taken = 0
if level - reserve >= 1 then
  taken = 1
  level = level - 1
end
local fullAfterMs = math.ceil((given.burst - level) / perMs)
redis.call('SET', keys.bucket, string.format('[1,%.6f,%.0f]', level, timeMs), 'PX', math.max(1, fullAfterMs))
local free = math.max(0, math.floor(level - reserve))
local retryAfterMs = math.ceil((reserve + 1 - level) / perMs)
return { taken, free, free > 0 and 0 or retryAfterMs, fullAfterMs }
