-- Moves a command that cannot be carried out (delivered too often, or unreadable) to the dead-letter stream, where an
-- operator finds it. Its payment keeps its wake-up, and a request that was not begun gets its result.
--
-- KEYS[1] commands stream   KEYS[2] dead letters stream
-- KEYS[3] due list zset     KEYS[4] idempotency record string; both are absent for an entry without a payment
-- ARGV[1] consumer group    ARGV[2] entry id
-- ARGV[3] member (payment key)   ARGV[4] wake-up, ms, or ''   ARGV[5] result of the command or ''
-- ARGV[6..] fields of the dead letter, in pairs
--
-- Returns 1, or 0 when the entry was finished in the meantime.
-- include store_result
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then
  return 0
end
redis.call('XDEL', KEYS[1], ARGV[2])
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 6))
if ARGV[4] ~= '' then
  redis.call('ZADD', KEYS[3], ARGV[4], ARGV[3])
end
if ARGV[5] ~= '' then
  storeResult(KEYS[4], ARGV[5])
end
return 1
