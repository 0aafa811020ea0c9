-- Ends a command that changed no payment: a refusal, or one whose work was done before.
-- Only its holder can: when the entry was taken over, the one that has it now decides about the result.
--
-- KEYS[1] idempotency record string     KEYS[2] commands stream
-- ARGV[1] result of the command or ''
-- ARGV[2] consumer group    ARGV[3] entry id    ARGV[4] reply channel or ''    ARGV[5] reply
--
-- Returns the number of entries acknowledged (0: the entry was taken over or ended before).
-- include store_result
if redis.call('XACK', KEYS[2], ARGV[2], ARGV[3]) == 0 then
  return 0
end
redis.call('XDEL', KEYS[2], ARGV[3])
if ARGV[1] ~= '' then
  storeResult(KEYS[1], ARGV[1])
end
if ARGV[4] ~= '' then
  redis.call('PUBLISH', ARGV[4], ARGV[5])
end
return 1
