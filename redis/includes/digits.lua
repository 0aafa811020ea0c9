-- Included by the scripts that give a command a number which may be round: Redis 7.2.0 to 7.2.4 write 10800000000 as 1.08e+10
-- (redis/redis#13113), which no life of a key may be.
--
-- Returns a whole number as a text.
local function digits(number)
  return string.format('%.0f', number)
end
