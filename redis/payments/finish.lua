-- Ends a command that changed no payment: a refusal, one whose work was done before, or a wake-up that its payment does not need.
-- Only its owner can: when the entry was taken over, the one that has it now decides about the result.
--
-- keys.idempotency   string   record of the request
-- keys.commands      stream
-- keys.payment       string
-- keys.due           zset     payments by their expiry
-- keys.reconcile     zset     payments by their next reconciliation
--
-- given.group, given.entry, given.consumer   the command, and who must have it
-- given.result             of a request that is refused; absent: there is none
-- given.version            of the payment that this was decided for; absent: it is not here
-- given.unneeded           of a wake-up that the payment does not need: the payment key
-- given.channel, given.reply   the reply to the request that waits; absent: none waits
--
-- Returns 1, 2 when the request had its result before, so that nothing is replied, 0 when the entry is not with this consumer, or
-- -1 when the payment has changed since it was decided that it refuses the request: the same request may have begun meanwhile.
-- include is_with
-- include version_of
-- include store_result
if not isWith(keys.commands, given.group, given.entry, given.consumer) then
  return 0
end
local version = (given.result or given.unneeded) and versionOf(keys.payment)
-- A payment that left for the archive is what it was.
if given.result and version and version ~= given.version then
  return -1
end
-- First what fails when its key has another type: Redis keeps what was written before, and the command would be lost.
local isNew = not given.result or storeResult(keys.idempotency, redis.call('GET', keys.idempotency), given.result)
if given.unneeded and version == given.version then
  redis.call('ZREM', keys.due, given.unneeded)
  redis.call('ZREM', keys.reconcile, given.unneeded)
end
redis.call('XACK', keys.commands, given.group, given.entry)
redis.call('XDEL', keys.commands, given.entry)
if not isNew then
  return 2
end
if given.channel then
  redis.call('PUBLISH', given.channel, given.reply)
end
return 1
