-- Gives a one-use token to the first owner that asks; the same owner may ask again.
-- A claim lives for a while even if the token was about to expire, so that the owner can finish its work.
--
-- KEYS[1] token      hash, of a card or of a CVV alone, which has the typed box only
-- ARGV[1] merchant   the token of another merchant is treated as missing
-- ARGV[2] owner      who claims
-- ARGV[3] claim ttl, ms: the least time that the token lives from now on
-- ARGV[4] request    the request that claims, which may give the token back, or '' for good: release_token.lua
--
-- Returns {'claimed', card box, typed box, brand, last4}, {'taken'} or {'missing'}.

local token = redis.call('HMGET', KEYS[1], 'merchant', 'owner', 'card', 'typed', 'brand', 'last4', 'request')
local merchant, owner = token[1], token[2]

if merchant ~= ARGV[1] then
  return {'missing'}
end
if owner and owner ~= ARGV[2] then
  return {'taken'}
end

if not owner then
  redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'request', ARGV[4])
elseif token[7] ~= '' and token[7] ~= ARGV[4] then
  -- Two requests of one owner: which of them was accepted is not known here, so neither may give the token back.
  redis.call('HSET', KEYS[1], 'request', '')
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return {'claimed', token[3], token[4], token[5], token[6]}
