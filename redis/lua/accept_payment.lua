-- Accepts a new payment: idempotency record, payment, indexes and command, all or nothing.
--
-- KEYS[1] idempotency record   string    KEYS[2] payment            string
-- KEYS[3] commands             stream    KEYS[4] index of `pending` zset
-- KEYS[5] index of references  zset
-- ARGV[1] idempotency value    ARGV[2] payment record   ARGV[3] index member (compact id)
-- ARGV[4] reference member     ARGV[5..] fields of the command entry, in pairs
--
-- Returns false when accepted, else the idempotency value that an earlier request left.
local earlier = redis.call('GET', KEYS[1])
if earlier then
  return earlier
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2])
redis.call('ZADD', KEYS[4], 0, ARGV[3])
redis.call('ZADD', KEYS[5], 0, ARGV[4])
-- The worker that is handed a new command has its payment with it, and need not wait for a read.
redis.call('XADD', KEYS[3], '*', 's', ARGV[2], unpack(ARGV, 5))
return false
