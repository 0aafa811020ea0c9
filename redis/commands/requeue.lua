-- Puts an entry that its worker did not finish back into the stream, as a new one: its fields hold
-- how often it was begun in vain. That is one more for a command that may have been begun, and unchanged for one that was not.
--
-- KEYS[1] commands stream
-- ARGV[1] consumer group   ARGV[2] entry id   ARGV[3] consumer that has it; '': it has no owner, and no worker would ever get it
-- ARGV[4..] fields of the new entry, in pairs
--
-- Returns 1, or 0 when the entry is not with that consumer.
-- include is_with
if not isWith(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then
  return 0
end
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
-- A stream that was trimmed by hand has lost it, and its worker has not. What has no owner and is gone has ended.
if redis.call('XDEL', KEYS[1], ARGV[2]) == 0 and ARGV[3] == '' then
  return 0
end
redis.call('XADD', KEYS[1], '*', unpack(ARGV, 4))
return 1
