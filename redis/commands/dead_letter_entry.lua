-- Moves an entry that is not a command to the dead letters (to_letters.lua).
--
-- keys.commands   stream
--
-- given.group, given.entry, given.consumer   the entry, and who must have it
--
-- Returns 1, or 0 when the entry is not with this consumer.
-- include is_with
-- include to_letters
if not isWith(keys.commands, given.group, given.entry, given.consumer) then
  return 0
end
toLetters()
return 1
