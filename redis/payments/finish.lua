-- Ends a command that changed no payment: a refusal, or one whose work was done before.
-- Only its owner can: when the entry was taken over, the one that has it now decides about the result.
--
-- KEYS[1] idempotency record string     KEYS[2] commands stream     KEYS[3] payment string
-- Of a wake-up that its payment does not need: KEYS[4] due list     zset    KEYS[5] to reconcile     zset
-- ARGV[1] result of the command or ''
-- ARGV[2] consumer group    ARGV[3] entry id    ARGV[4] consumer
-- ARGV[5] reply channel or ''           ARGV[6] reply
-- ARGV[7] member (payment key)          ARGV[8] version that a refusal or an unneeded wake-up is about; '': it is not here, or none
--
-- Returns 1, 2 when the request had its result before, so that nothing is replied, 0 when the entry is not with this consumer, or
-- -1 when the payment has changed since it was decided that it refuses the request: the same request may have begun meanwhile.
-- include is_with
-- include version_of
-- include store_result
if not isWith(KEYS[2], ARGV[2], ARGV[3], ARGV[4]) then
  return 0
end
local version = (ARGV[1] ~= '' or KEYS[4]) and versionOf(KEYS[3])
-- A payment that left for the archive is what it was.
if ARGV[1] ~= '' and version and version ~= ARGV[8] then
  return -1
end
-- First what fails when its key has another type: Redis keeps what was written before, and the command would be lost.
local isNew = ARGV[1] == '' or storeResult(KEYS[1], redis.call('GET', KEYS[1]), ARGV[1])
if KEYS[4] and (version or '') == ARGV[8] then
  redis.call('ZREM', KEYS[4], ARGV[7])
  redis.call('ZREM', KEYS[5], ARGV[7])
end
redis.call('XACK', KEYS[2], ARGV[2], ARGV[3])
redis.call('XDEL', KEYS[2], ARGV[3])
if not isNew then
  return 2
end
if ARGV[5] ~= '' then
  redis.call('PUBLISH', ARGV[5], ARGV[6])
end
return 1
