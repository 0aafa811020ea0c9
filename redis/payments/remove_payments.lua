-- Removes payments of one partition that the archive has, each only in the version that the archive has.
--
-- Of each payment, which is one of given.calls:
-- keys.payment      string
-- keys.status       zset     index of its status
-- keys.references   zset     index of references
-- keys.sales        hash     payments by their sale
-- keys.rests        zset     payments to look at later
-- keys.archived     string   the newest payment that ever left
--
-- call.version, call.member   the version that the archive has; the payment key
-- call.reference              its member of the index of references
-- call.sale                   its sale id; absent: it has none
--
-- Returns how many were removed.
-- include version_of
local function remove(keys, call)
  if versionOf(keys.payment) ~= call.version then
    return 0
  end
  -- First what fails when its key has another type: without the mark a payment of the archive would not be looked for there.
  local newest = redis.call('GET', keys.archived) or ''
  redis.call('DEL', keys.payment)
  redis.call('ZREM', keys.status, call.member)
  redis.call('ZREM', keys.references, call.reference)
  if call.sale then
    redis.call('HDEL', keys.sales, call.sale)
  end
  redis.call('ZREM', keys.rests, call.member)
  if call.member > newest then
    redis.call('SET', keys.archived, call.member)
  end
  return 1
end
local removed = 0
for i, call in ipairs(given.calls) do
  removed = removed + remove(keysOf(i), call)
end
return removed
