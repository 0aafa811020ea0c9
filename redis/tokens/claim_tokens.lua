-- Gives each one-use token to the first owner that asks; the same owner may ask again.
-- A claim lives for a while even if the token was about to expire, so that the owner can finish its work.
--
-- KEYS[..]  hashes    of cards, or of CVVs alone, which have the typed box only
-- ARGV[1]   the least time that a token lives from now on, ms
-- ARGV[2..] three for each token: merchant: the token of another one is treated as missing; owner: who claims; request: the one
--           that claims, which may give the token back, or '' for good: release_token.lua
--
-- Returns for each token {'claimed', card box, typed box, brand, last4}, {'taken'}, {'missing'}, or the reason of its failure.
-- include reason_of
local function claim(token, merchant, owner, request)
  local fields = redis.call('HMGET', token, 'merchant', 'owner', 'card', 'typed', 'brand', 'last4', 'request')
  local ownMerchant, earlierOwner, card, typed, brand, last4, earlierRequest = unpack(fields)
  if ownMerchant ~= merchant then
    return { 'missing' }
  end
  if earlierOwner and earlierOwner ~= owner then
    return { 'taken' }
  end
  if not earlierOwner then
    redis.call('HSET', token, 'owner', owner, 'request', request)
  elseif earlierRequest ~= '' and earlierRequest ~= request then
    -- Two requests of one owner: which of them was accepted is not known here, so neither may give the token back.
    redis.call('HSET', token, 'request', '')
  end
  if redis.call('PTTL', token) < tonumber(ARGV[1]) then
    redis.call('PEXPIRE', token, ARGV[1])
  end
  return { 'claimed', card, typed, brand, last4 }
end
local answers = {}
for i = 2, #ARGV, 3 do
  local isDone, answer = pcall(claim, KEYS[#answers + 1], unpack(ARGV, i, i + 2))
  answers[#answers + 1] = isDone and answer or reasonOf(answer)
end
return answers
