-- Reads the heads of due waiting lines of one merchant, but for those that the reader has already.
--
-- KEYS[1] lease     string    KEYS[2] due times  zset   KEYS[3] waiting lines  hash, by payment
-- ARGV[1] holder    ARGV[2] due until, ms        ARGV[3] how many at the most
-- ARGV[4..] payments to leave out
--
-- Returns heads; or -1 NOT_HOLDER.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return -1
end
local isKnown = {}
for i = 4, #ARGV do
  isKnown[ARGV[i]] = true
end
local wanted = tonumber(ARGV[3])
local heads = {}
for _, payment in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2], 'LIMIT', 0, wanted + #ARGV - 3)) do
  if not isKnown[payment] and #heads < wanted then
    heads[#heads + 1] = string.match(redis.call('HGET', KEYS[3], payment), '^[^\n]*')
  end
end
return heads
