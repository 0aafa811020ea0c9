-- Brings a payment back from the archive, unless it is here already.
--
-- keys.payment         string   the payment
-- keys.status          zset     index of its status
-- keys.references      zset     index of references
-- keys.sales           hash     payments by sale
-- keys.rests           zset     payments to look at later
--
-- given.record, given.member      the payment record and the payment key; given.sale its sale id, when it has one
-- given.reference                 member of the index of references
-- given.restsUntilMs              when it is looked at; given.latestMs the latest time for this
--
-- Returns the payment record that is stored now; false when it is too late: the archive must be read again.
local stored = redis.call('GET', keys.payment)
if stored then
  return stored
end
if redis.call('TIME')[1] * 1000 > given.latestMs then
  return false
end
redis.call('SET', keys.payment, given.record)
redis.call('ZADD', keys.status, 0, given.member)
redis.call('ZADD', keys.references, 0, given.reference)
if given.sale then
  redis.call('HSET', keys.sales, given.sale, given.member)
end
redis.call('ZADD', keys.rests, given.restsUntilMs, given.member)
return given.record
