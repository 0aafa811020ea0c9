-- Gives each one-use token to the first owner that asks; the same owner may ask again.
-- A claim lives for a while even if the token was about to expire, so that the owner can finish its work.
--
-- Of each token (answer_each.lua):
-- keys.token   hash   of a card, or of a CVV alone, which has the typed box only
--
-- call.merchant    the token of another one is treated as missing
-- call.owner       who claims
-- call.request     the request that claims, which may give the token back; '': for good (release_token.lua)
-- call.leastMs     the least time that the token lives from now on
--
-- Returns for each token {'claimed', card box, typed box, brand, last4}, {'taken'}, {'missing'}, or the reason of its failure.
-- include answer_each
local function claim(keys, call)
  local fields = redis.call('HMGET', keys.token, 'merchant', 'owner', 'card', 'typed', 'brand', 'last4', 'request')
  local ownMerchant, earlierOwner, card, typed, brand, last4, earlierRequest = unpack(fields)
  if ownMerchant ~= call.merchant then
    return { 'missing' }
  end
  if earlierOwner and earlierOwner ~= call.owner then
    return { 'taken' }
  end
  if not earlierOwner then
    redis.call('HSET', keys.token, 'owner', call.owner, 'request', call.request)
  elseif earlierRequest ~= '' and earlierRequest ~= call.request then
    -- Two requests of one owner: which of them was accepted is not known here, so neither may give the token back.
    redis.call('HSET', keys.token, 'request', '')
  end
  if redis.call('PTTL', keys.token) < call.leastMs then
    redis.call('PEXPIRE', keys.token, call.leastMs)
  end
  return { 'claimed', card, typed, brand, last4 }
end
return answerEach(claim)
