-- Releases a one-use token, so that another owner may claim it. Its life stays as it is.
--
-- KEYS[1] token      hash
-- ARGV[1] owner      only its own claim is released
-- ARGV[2] request    only if no other request has claimed it for this owner; '' releases any claim of the owner
--
-- Returns 1, or 0 when there is nothing to release.
local claim = redis.call('HMGET', KEYS[1], 'owner', 'request')
if claim[1] ~= ARGV[1] or (ARGV[2] ~= '' and claim[2] ~= ARGV[2]) then
  return 0
end
redis.call('HDEL', KEYS[1], 'owner', 'request')
return 1
