-- Bounds the calls to the card network that no request waits for: by a rate, and by how many answers are open. A quarter of a
-- second may be saved up: a burst would take from new sales what the network allows for a second.
--
-- Each call takes one from an allowance. Each answer gives two back, up to a full allowance, and one when it is an
-- absence that is not believed; without answers it fills by one a second. So a network that answers is queried at the
-- full rate, a silent one once a second, and one that has come back twice as much with each round of answers.
--
-- keys.pace         string   `[<format>,<tokens of the rate>,<allowance>,<ms>]`; absent or unreadable means full
-- given.perSecond   calls per second, which is also a full allowance
-- given.wanted, given.returned   calls that are wanted, and those that are returned to the allowance
--
-- Returns how many of the wanted ones may be queried now.
-- include now_ms
local perSecond = given.perSecond
local timeMs = nowMs()
local burst = math.max(1, perSecond / 4)
local tokens, allowance = burst, perSecond
local stored = redis.call('GET', keys.pace) or ''
local tokensBefore, allowanceBefore, atMs = string.match(stored, '^%[1,([%d.]+),([%d.]+),(%d+)%]$')
if tonumber(tokensBefore) and tonumber(allowanceBefore) then
  -- A clock that was set back must not drain the allowance.
  local elapsedS = math.max(0, timeMs - tonumber(atMs)) / 1000
  tokens = math.min(burst, tonumber(tokensBefore) + elapsedS * perSecond)
  allowance = math.min(perSecond, tonumber(allowanceBefore) + elapsedS + given.returned)
end

local granted = math.floor(math.min(given.wanted, tokens, allowance))
redis.call('SET', keys.pace, string.format('[1,%.6f,%.6f,%.0f]', tokens - granted, allowance - granted, timeMs))
return granted
