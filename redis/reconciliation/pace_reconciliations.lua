-- Bounds the queries that all workers send to the card network: by a rate, and by how many answers are open.
--
-- Each query takes one from an allowance. Each answer gives two back, up to a full allowance, and one when it is an
-- absence that is not believed; without answers it fills by one a second. So a network that answers is asked at the
-- full rate, a silent one once a second, and one that has come back twice as much with each round of answers.
--
-- KEYS[1] the pace: "<tokens of the rate> <allowance> <ms>"; absent means full
-- ARGV[1] queries per second, which is also a full allowance
-- ARGV[2] queries that are wanted   ARGV[3] returned to the allowance
--
-- Returns how many of the wanted ones may be asked now.
local perSecond = tonumber(ARGV[1])
local time = redis.call('TIME')
local nowMs = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000

local tokens, allowance = perSecond, perSecond
local stored = redis.call('GET', KEYS[1])
if stored then
  local tokensBefore, allowanceBefore, atMs = string.match(stored, '^(%S+) (%S+) (%S+)$')
  -- A clock that was set back must not drain the allowance.
  local elapsedS = math.max(0, nowMs - tonumber(atMs)) / 1000
  tokens = math.min(perSecond, tonumber(tokensBefore) + elapsedS * perSecond)
  allowance = math.min(perSecond, tonumber(allowanceBefore) + elapsedS + tonumber(ARGV[3]))
end

local granted = math.floor(math.min(tonumber(ARGV[2]), tokens, allowance))
redis.call('SET', KEYS[1], string.format('%.6f %.6f %.3f', tokens - granted, allowance - granted, nowMs))
return granted
