-- Erases a stored card of a merchant. The note of what its token became stays until it expires: a repeated request with
-- the token must not store the card again.
--
-- KEYS[1] card          hash
-- ARGV[1] merchant id
--
-- Returns 1 if the card was erased, 0 if this merchant has no such card.

if redis.call('HMGET', KEYS[1], 'merchant')[1] ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
