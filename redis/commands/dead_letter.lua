-- Moves a command that cannot be carried out (delivered too often, or unreadable) to the dead-letter stream, where an
-- operator finds it. Its payment keeps its wake-up, and a request that was not begun gets its result.
--
-- KEYS[1] commands stream   KEYS[2] dead letters stream
-- KEYS[3] due list zset     KEYS[4] idempotency record string
-- KEYS[5] to reconcile zset; the last three are absent for an entry without a payment
-- ARGV[1] consumer group    ARGV[2] entry id    ARGV[3] consumer
-- ARGV[4] member (payment key)   ARGV[5] wake-up, ms, 'never', or '' for the one that it has   ARGV[6] result of the command or ''
-- ARGV[7..] fields of the dead letter, in pairs
--
-- Returns 1, or 0 when the entry is not with this consumer.
-- include is_with
-- include store_result
if not isWith(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then
  return 0
end
-- First what fails when its key has another type: Redis keeps what was written before, and the command would be lost.
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 7))
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
if ARGV[5] == 'never' then
  redis.call('ZREM', KEYS[3], ARGV[4])
  redis.call('ZREM', KEYS[5], ARGV[4])
elseif ARGV[5] ~= '' then
  redis.call('ZADD', KEYS[3], ARGV[5], ARGV[4])
end
if ARGV[6] ~= '' then
  storeResult(KEYS[4], redis.call('GET', KEYS[4]), ARGV[6])
end
return 1
