-- Removes payments of one partition that the archive has, each only in the version that the archive has.
--
-- KEYS[1] payments to look at later   zset     KEYS[2] newest payment that ever left   string
-- KEYS[3..] of each payment: payment, index of its status, index of references, payments by sale
-- ARGV of each payment: version, payment key, member of the index of references, sale id or ''
--
-- Returns how many were removed.
-- include version_of
local newest = redis.call('GET', KEYS[2]) or ''
local removed = 0
for i = 3, #KEYS, 4 do
  local payment, status, references, sales = unpack(KEYS, i, i + 3)
  local version, member, reference, sale = unpack(ARGV, i - 2, i + 1)
  if versionOf(payment) == version then
    redis.call('DEL', payment)
    redis.call('ZREM', status, member)
    redis.call('ZREM', references, reference)
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
