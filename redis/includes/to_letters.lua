-- Included by the scripts that move an entry, which can't be carried out, to the dead-letter stream, where an operator finds it.
--
-- keys.commands   stream
-- keys.letters    stream   dead letters
--
-- given.group, given.entry   the command
-- given.fields               of the dead letter, in pairs
--
-- Returns nothing.
local function toLetters()
  -- First what fails when its key has another type: Redis keeps what was written before, and the command would be lost.
  redis.call('XADD', keys.letters, '*', unpack(given.fields))
  redis.call('XACK', keys.commands, given.group, given.entry)
  redis.call('XDEL', keys.commands, given.entry)
end
