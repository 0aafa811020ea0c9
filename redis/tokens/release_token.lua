-- Releases a one-use token, so that another owner may claim it. Its life stays as it is.
--
-- keys.token      hash
-- given.owner     only its own claim is released
-- given.request   only if no other request has claimed it for this owner; '' releases any claim of the owner
--
-- Returns 1, or 0 when there is nothing to release.
local owner, request = unpack(redis.call('HMGET', keys.token, 'owner', 'request'))
if owner ~= given.owner or (given.request ~= '' and request ~= given.request) then
  return 0
end
redis.call('HDEL', keys.token, 'owner', 'request')
return 1
