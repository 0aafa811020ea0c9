-- Moves a command that cannot be carried out, as one that was delivered too often, to the dead letters (to_letters.lua). Its
-- payment keeps its wake-up, and a request that was not begun gets its result.
--
-- keys.commands      stream
-- keys.letters       stream   dead letters
-- keys.due           zset     payments by their expiry
-- keys.reconcile     zset     payments by their next reconciliation
-- keys.idempotency   string   record of the request
--
-- given.group, given.entry, given.consumer   the command, and who must have it
-- given.member      the payment key
-- given.wakeAtMs    when the payment is looked at; absent: as its wake-up says
-- given.isDamaged   the payment can't be read, so it is not woken
-- given.result      of a request that was not begun; absent: it was
--
-- Returns 1, or 0 when the entry is not with this consumer.
-- include is_with
-- include to_letters
-- include store_result
if not isWith(keys.commands, given.group, given.entry, given.consumer) then
  return 0
end
-- First what fails when its key has another type: Redis keeps what was written before, and the command would be lost.
local request = given.result and redis.call('GET', keys.idempotency)
redis.call('XRANGE', keys.letters, '-', '-')
if given.isDamaged then
  redis.call('ZREM', keys.due, given.member)
  redis.call('ZREM', keys.reconcile, given.member)
elseif given.wakeAtMs then
  redis.call('ZADD', keys.due, given.wakeAtMs, given.member)
end
toLetters()
if given.result then
  storeResult(keys.idempotency, request, given.result)
end
return 1
