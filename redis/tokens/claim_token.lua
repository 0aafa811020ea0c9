-- Gives a one-use token to the first owner that asks; the same owner may ask again.
-- A claim lives for a while even if the token was about to expire, so that the owner can finish its work.
--
-- keys.token       hash   of a card, or of a CVV alone, which has the typed box only
-- given.merchant   the token of another merchant is treated as missing
-- given.owner      who claims; given.request the request that claims, which may give the token back, or '' for good: release_token.lua
-- given.ttlMs      the least time that the token lives from now on
--
-- Returns {'claimed', card box, typed box, brand, last4}, {'taken'} or {'missing'}.
local token = redis.call('HMGET', keys.token, 'merchant', 'owner', 'card', 'typed', 'brand', 'last4', 'request')
local merchant, owner, card, typed, brand, last4, request = unpack(token)
if merchant ~= given.merchant then
  return { 'missing' }
end
if owner and owner ~= given.owner then
  return { 'taken' }
end
if not owner then
  redis.call('HSET', keys.token, 'owner', given.owner, 'request', given.request)
elseif request ~= '' and request ~= given.request then
  -- Two requests of one owner: which of them was accepted is not known here, so neither may give the token back.
  redis.call('HSET', keys.token, 'request', '')
end
if redis.call('PTTL', keys.token) < given.ttlMs then
  redis.call('PEXPIRE', keys.token, given.ttlMs)
end
return { 'claimed', card, typed, brand, last4 }
