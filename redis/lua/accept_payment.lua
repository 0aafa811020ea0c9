-- Accepts a new payment: idempotency record, payment, indexes and command, all or nothing.
--
-- KEYS[1] idempotency record   string    KEYS[2] payment                 string
-- KEYS[3] commands             stream    KEYS[4] index of `pending`      zset
-- KEYS[5], KEYS[6] its leaves  zset      KEYS[7] index of references     zset
-- KEYS[8] its bucket           zset      KEYS[9], KEYS[10] their leaves  zset
-- ARGV[1] idempotency value    ARGV[2] payment record   ARGV[3] payment key
-- ARGV[4], ARGV[5] marks of its leaves                  ARGV[6] prefix of its reference
-- ARGV[7] most members of an index                      ARGV[8..] fields of the command entry, in pairs
--
-- Returns false when accepted, else the idempotency value that an earlier request left.
-- include add_to_index
local earlier = redis.call('GET', KEYS[1])
if earlier then
  return earlier
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2])
local marks = { ARGV[4], ARGV[5] }
addToIndex({ KEYS[4], KEYS[5], KEYS[6] }, marks, '', ARGV[3], ARGV[7])
addToIndex({ KEYS[7], KEYS[8], KEYS[9], KEYS[10] }, marks, ARGV[6], ARGV[3], ARGV[7])
-- The worker that is handed a new command has its payment with it, and need not wait for a read.
redis.call('XADD', KEYS[3], '*', 's', ARGV[2], unpack(ARGV, 8))
return false
