-- Brings a payment back from the archive, unless it is here already.
--
-- keys.payment         string   the payment
-- keys.status          zset     index of its status
-- keys.statusLeaf      zset     its leaf
-- keys.references      zset     index of references
-- keys.bucket          zset     its bucket
-- keys.bucketLeaf      zset     leaf of the bucket
-- keys.sales           hash     payments by sale
-- keys.rests           zset     payments to look at later
--
-- given.record, given.member      the payment record and the payment key; given.sale its sale id, when it has one
-- given.mark, given.prefix        mark of its leaves, prefix of its reference; given.indexMax most members of an index
-- given.restsUntilMs              when it is looked at; given.latestMs the latest time for this
--
-- Returns the payment record that is stored now; false when it is too late: the archive must be read again.
-- include add_to_index
local stored = redis.call('GET', keys.payment)
if stored then
  return stored
end
if redis.call('TIME')[1] * 1000 > given.latestMs then
  return false
end
redis.call('SET', keys.payment, given.record)
addToIndex({ keys.status, keys.statusLeaf }, given.mark, '', given.member, given.indexMax)
addToIndex({ keys.references, keys.bucket, keys.bucketLeaf }, given.mark, given.prefix, given.member, given.indexMax)
if given.sale then
  redis.call('HSET', keys.sales, given.sale, given.member)
end
redis.call('ZADD', keys.rests, given.restsUntilMs, given.member)
return given.record
