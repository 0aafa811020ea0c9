-- Gives a one-use token back, so that another owner may claim it. Its life stays as it is.
--
-- KEYS[1] token      hash
-- ARGV[1] owner      only its own claim is given back
-- ARGV[2] request    only if no other request has claimed it for this owner; '' gives back whatever the owner has
--
-- Returns 1, or 0 when there is nothing to give back.
local claim = redis.call('HMGET', KEYS[1], 'owner', 'request')
if claim[1] ~= ARGV[1] or (ARGV[2] ~= '' and claim[2] ~= ARGV[2]) then
  return 0
end
redis.call('HDEL', KEYS[1], 'owner', 'request')
return 1
