-- Accepts a new payment: idempotency record, payment, indexes, command and wake-up, all or nothing.
--
-- KEYS[1] idempotency record   string    KEYS[2] payment                 string
-- KEYS[3] commands             stream    KEYS[4] index of `pending`      zset
-- KEYS[5] index of references  zset      KEYS[6] to reconcile            zset
-- KEYS[7] commit counter       string
-- ARGV[1] idempotency value    ARGV[2] payment record       ARGV[3] payment key
-- ARGV[4] member of the index of references                 ARGV[5] life of the idempotency record, ms; '': for ever
-- ARGV[6] wake-up, ms          ARGV[7..] fields of the command entry, in pairs
--
-- Returns the count when accepted, else the idempotency value that an earlier request left.
-- include advance
local earlier = redis.call('GET', KEYS[1])
if earlier then
  return earlier
end
-- Redis keeps what was written before a command that fails, as on a key of another type. SET never does: it comes last.
redis.call('ZADD', KEYS[4], 0, ARGV[3])
redis.call('ZADD', KEYS[5], 0, ARGV[4])
-- Finds the payment also if its command is lost.
redis.call('ZADD', KEYS[6], ARGV[6], ARGV[3])
local count = advance(KEYS[7])
-- The entry carries the payment, so that the worker needs no read.
redis.call('XADD', KEYS[3], '*', 's', ARGV[2], unpack(ARGV, 7))
redis.call('SET', KEYS[1], ARGV[1], unpack(ARGV[5] == '' and {} or { 'PX', ARGV[5] }))
redis.call('SET', KEYS[2], ARGV[2])
return count
