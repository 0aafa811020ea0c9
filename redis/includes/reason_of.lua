-- Included by the scripts that go on after a failure.
--
-- Returns the reason of a failure that pcall has caught: from Redis 7.2 on it is in a table.
local function reasonOf(failure)
  return type(failure) == 'table' and failure.err or failure
end
