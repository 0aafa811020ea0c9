-- Accepts a new payment: idempotency record, payment, indexes, command and wake-up, all or nothing.
--
-- KEYS[1] idempotency record   string    KEYS[2] payment                 string
-- KEYS[3] commands             stream    KEYS[4] index of `pending`      zset
-- KEYS[5] its leaf             zset      KEYS[6] index of references     zset
-- KEYS[7] its bucket           zset      KEYS[8] leaf of the bucket      zset
-- KEYS[9] to reconcile         zset      KEYS[10] commit counter          string
-- ARGV[1] idempotency value    ARGV[2] payment record       ARGV[3] payment key
-- ARGV[4] mark of its leaf     ARGV[5] prefix of its reference
-- ARGV[6] most members of an index       ARGV[7] life of the idempotency record, ms; '': for ever
-- ARGV[8] wake-up, ms             ARGV[9..] fields of the command entry, in pairs
--
-- Returns the count when accepted, else the idempotency value that an earlier request left.
-- include add_to_index
-- include advance
local earlier = redis.call('GET', KEYS[1])
if earlier then
  return earlier
end
redis.call('SET', KEYS[1], ARGV[1], unpack(ARGV[7] == '' and {} or { 'PX', ARGV[7] }))
redis.call('SET', KEYS[2], ARGV[2])
addToIndex({ KEYS[4], KEYS[5] }, ARGV[4], '', ARGV[3], ARGV[6])
addToIndex({ KEYS[6], KEYS[7], KEYS[8] }, ARGV[4], ARGV[5], ARGV[3], ARGV[6])
-- Finds the payment also if its command is lost.
redis.call('ZADD', KEYS[9], ARGV[8], ARGV[3])
-- The entry carries the payment, so that the worker needs no read.
redis.call('XADD', KEYS[3], '*', 's', ARGV[2], unpack(ARGV, 9))
return advance(KEYS[10])
