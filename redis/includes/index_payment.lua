-- Included by commit.lua: where a payment is found, by what it waits for, by its status and by its sale.
--
-- keys.due         zset   payments by their expiry
-- keys.reconcile   zset   payments by their next reconciliation
-- keys.inDoubt     zset   payments by the time since which their outcome is in doubt
-- keys.review      hash   payments in review
-- keys.sales       hash   payments by their sale
-- keys.before      zset   index of the status before
-- keys.after       zset   index of the status from now on
--
-- given.member                 the payment key
-- given.version                the version before
-- given.expiryMs, given.reconcileMs   when the payment is woken; absent: not
-- given.doubtMs, given.reason  since when it is in doubt; why it is in review; absent: it is not
-- given.sale                   its sale id; absent: it is not known
--
-- Returns nothing.
local function indexPayment()
  local member = given.member
  -- After its acceptance a payment has no more than the wake-up in `reconcile`.
  local mayBeIndexed = given.version ~= '1'
  if given.expiryMs then
    redis.call('ZADD', keys.due, given.expiryMs, member)
  elseif mayBeIndexed then
    redis.call('ZREM', keys.due, member)
  end
  if given.reconcileMs then
    redis.call('ZADD', keys.reconcile, given.reconcileMs, member)
  else
    redis.call('ZREM', keys.reconcile, member)
  end
  if given.reason then
    redis.call('HSET', keys.review, member, given.reason)
  else
    redis.call('HDEL', keys.review, member)
  end
  if given.doubtMs then
    -- A retry of the operation starts a new horizon; the payment stays in doubt since the first try.
    redis.call('ZADD', keys.inDoubt, 'NX', given.doubtMs, member)
  elseif mayBeIndexed then
    redis.call('ZREM', keys.inDoubt, member)
  end
  if keys.before ~= keys.after then
    redis.call('ZREM', keys.before, member)
    redis.call('ZADD', keys.after, 0, member)
  end
  if given.sale then
    redis.call('HSET', keys.sales, given.sale, member)
  end
end
