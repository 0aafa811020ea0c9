-- Replaces what the data of a partition says of itself, unless another process did so meanwhile. In data that is not
-- vouched for, all that waits counts as begun, and each open payment is woken to be compared.
--
-- keys.vouch      string   what the data says of itself
-- keys.counter    string   commit counter
-- keys.begun      hash     begun payments
-- keys.reconcile  zset     payments to reconcile
-- keys.due        zset     payments by the end of their window
-- keys.unvouched  set      payments to be compared
--
-- given.before, given.after          text that is replaced, and its replacement; without `before` there was none
-- given.counter, given.newCounter    counter that was read, and its value in a new epoch; without `newCounter` the epoch stays
-- given.markAtMs                     payments are marked: now by the clock of the service; absent: they are not
--
-- Returns 1, or 0 when another process was first, or has counted a commit that the new epoch would not begin after.
if (redis.call('GET', keys.vouch) or nil) ~= given.before then
  return 0
end
if given.newCounter then
  if (redis.call('GET', keys.counter) or nil) ~= given.counter then
    return 0
  end
  redis.call('SET', keys.counter, given.newCounter)
end
redis.call('SET', keys.vouch, given.after)
if given.markAtMs then
  -- Every new payment is in this list, also one whose command is lost. The mark of another one is taken away when it is compared.
  for _, member in ipairs(redis.call('ZRANGE', keys.reconcile, 0, -1)) do
    redis.call('HSETNX', keys.begun, member, 'unvouched')
    redis.call('SADD', keys.unvouched, member)
  end
  for _, member in ipairs(redis.call('ZRANGE', keys.due, 0, -1)) do
    redis.call('SADD', keys.unvouched, member)
  end
  for _, member in ipairs(redis.call('SMEMBERS', keys.unvouched)) do
    redis.call('ZADD', keys.reconcile, given.markAtMs, member)
  end
end
return 1
