-- Replaces what the data of a partition says of itself, unless another process did so meanwhile. In data that is not
-- vouched for, all that waits counts as begun, and each open payment is woken to be compared.
--
-- KEYS[1] vouch             string    KEYS[2] begun payments   hash    KEYS[3] to reconcile   zset
-- KEYS[4] due list          zset      KEYS[5] payments to be compared   set     KEYS[6] commit counter   string
-- ARGV[1] text that is replaced, '' for none    ARGV[2] its replacement
-- ARGV[3] now by the clock of the service, ms, when the payments are marked, or ''
-- ARGV[4] counter that was read, '' for none    ARGV[5] its value in a new epoch, or ''
--
-- Returns 1, or 0 when another process was first, or has counted a commit that the new epoch would not begin after.
local vouch, begun, reconcile, due, unvouched, counter = unpack(KEYS)
if (redis.call('GET', vouch) or '') ~= ARGV[1] then
  return 0
end
if ARGV[5] ~= '' then
  if (redis.call('GET', counter) or '') ~= ARGV[4] then
    return 0
  end
  redis.call('SET', counter, ARGV[5])
end
redis.call('SET', vouch, ARGV[2])
if ARGV[3] ~= '' then
  -- Every new payment is in this list, also one whose command is lost. The mark of another one is taken away when it is compared.
  for _, member in ipairs(redis.call('ZRANGE', reconcile, 0, -1)) do
    redis.call('HSETNX', begun, member, 'unvouched')
    redis.call('SADD', unvouched, member)
  end
  for _, member in ipairs(redis.call('ZRANGE', due, 0, -1)) do
    redis.call('SADD', unvouched, member)
  end
  for _, member in ipairs(redis.call('SMEMBERS', unvouched)) do
    redis.call('ZADD', reconcile, ARGV[3], member)
  end
end
return 1
