-- Included by the scripts that work for many callers at once: a key of another type fails one of them alone.
--
-- Returns the reason of a failure that pcall has caught: from Redis 7.2 on it is in a table.
local function reasonOf(failure)
  return type(failure) == 'table' and failure.err or failure
end
