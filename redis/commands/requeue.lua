-- Puts an entry that its worker did not finish back into the stream, as a new one: its fields hold
-- how often it was begun in vain. That is one more for a command that may have been begun, and unchanged for one that was not.
--
-- keys.commands                stream
-- given.group, given.entry     the entry
-- given.consumer               who has it; absent: it has no owner, and no worker would ever get it
-- given.fields                 of the new entry, in pairs
--
-- Returns 1, or 0 when the entry is not with that consumer.
-- include is_with
if not isWith(keys.commands, given.group, given.entry, given.consumer) then
  return 0
end
redis.call('XACK', keys.commands, given.group, given.entry)
-- A stream that was trimmed by hand has lost it, and its worker has not. What has no owner and is gone has ended.
if redis.call('XDEL', keys.commands, given.entry) == 0 and not given.consumer then
  return 0
end
redis.call('XADD', keys.commands, '*', unpack(given.fields))
return 1
