-- Stores a card under the token that it came with: all of it, or nothing. The same token again gives the first card.
--
-- KEYS[1] card of token   string, the id of the card
-- KEYS[2] card            hash, of the new id
-- ARGV[1] card id         the new id
-- ARGV[2] remember for, ms: how long the token is known to have given this card
-- ARGV[3..] fields and values of the card
--
-- Returns {card id, 1 if it is new, else 0}.

local known = redis.call('GET', KEYS[1])
if known then
  return {known, 0}
end

redis.call('HSET', KEYS[2], unpack(ARGV, 3))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {ARGV[1], 1}
