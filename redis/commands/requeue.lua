-- Puts an entry that its worker did not finish back into the stream, as a new one: its fields hold
-- the delivery count. That is one more for a command that may have been begun, and unchanged for one that was not.
--
-- KEYS[1] commands stream
-- ARGV[1] consumer group   ARGV[2] entry id   ARGV[3..] fields of the new entry, in pairs
--
-- Returns 1, or 0 when the entry was finished in the meantime.
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then
  return 0
end
redis.call('XDEL', KEYS[1], ARGV[2])
redis.call('XADD', KEYS[1], '*', unpack(ARGV, 3))
return 1
