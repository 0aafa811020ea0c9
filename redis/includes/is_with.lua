-- Included by the scripts that begin a command, or end one without an outcome: only its owner may.
--
-- Returns whether an entry is pending with this consumer; without one, whether it has no owner.
local function isWith(stream, group, entry, consumer)
  if not consumer then
    return #redis.call('XPENDING', stream, group, entry, entry, 1) == 0
  end
  return #redis.call('XPENDING', stream, group, entry, entry, 1, consumer) == 1
end
