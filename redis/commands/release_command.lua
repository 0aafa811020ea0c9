-- Puts an entry back for which its worker has sent nothing, as a new one, with its fields unchanged. What this delivery has
-- begun it takes back, so that the next worker may begin it.
--
-- keys.commands   stream
-- keys.begun      hash   begun payments
-- given.group, given.entry, given.consumer   the entry, and who has it
-- given.member, given.delivery               payment key, and the name of the delivery
-- given.fields                               of the new entry, in pairs
--
-- Returns 1, or 0 when the entry is not with that consumer.
-- include is_with
if not isWith(keys.commands, given.group, given.entry, given.consumer) then
  return 0
end
-- First what fails when its key has another type: Redis keeps what was written before, and the command would be lost.
if redis.call('HGET', keys.begun, given.member) == given.delivery then
  redis.call('HDEL', keys.begun, given.member)
end
redis.call('XACK', keys.commands, given.group, given.entry)
redis.call('XDEL', keys.commands, given.entry)
redis.call('XADD', keys.commands, '*', unpack(given.fields))
return 1
