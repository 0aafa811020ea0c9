-- Removes payments of one partition that the archive has, each only in the version that the archive has.
--
-- KEYS[1] payments to look at later   zset     KEYS[2] newest payment that ever left   string
-- KEYS[3..] of each payment: payment, index of its status and leaf, index of references, bucket and leaf, payments by sale
-- ARGV of each payment: version, payment key, mark of its leaf, prefix of its reference, sale id or ''
--
-- Returns how many were removed.
-- include remove_from_index
-- include version_of
local newest = redis.call('GET', KEYS[2]) or ''
local removed = 0
for i = 3, #KEYS, 7 do
  local payment, status, leaf, references, bucket, bucketLeaf, sales = unpack(KEYS, i, i + 6)
  local given = (i - 3) / 7 * 5
  local version, member, mark, prefix, sale = unpack(ARGV, given + 1, given + 5)
  if versionOf(payment) == version then
    redis.call('DEL', payment)
    removeFromIndex({ status, leaf }, mark, '', member)
    removeFromIndex({ references, bucket, bucketLeaf }, mark, prefix, member)
    if sale ~= '' then
      redis.call('HDEL', sales, sale)
    end
    redis.call('ZREM', KEYS[1], member)
    if member > newest then
      newest = member
      redis.call('SET', KEYS[2], newest)
    end
    removed = removed + 1
  end
end
return removed
