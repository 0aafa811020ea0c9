-- Puts a dead letter back into its command stream.
--
-- keys.letters    stream   dead letters
-- keys.commands   stream
-- given.letter    id of the letter; given.fields of the command entry, in pairs
--
-- Returns 1, or 0 when there is no such letter.
-- Fails when it has another type: Redis keeps what was written before, and the letter would be lost.
redis.call('XLEN', keys.commands)
if redis.call('XDEL', keys.letters, given.letter) == 0 then
  return 0
end
redis.call('XADD', keys.commands, '*', unpack(given.fields))
return 1
