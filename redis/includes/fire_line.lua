-- Included by the scripts that turn payments of the line of an endpoint into commands: those that were due by then, the
-- longest due first. A trial is the entry with one element more: the number of its kind.
--
-- Returns how many commands were written.
local function fireLine(line, deliveries, dueByMs, max, isTrial)
  local due = redis.call('ZRANGEBYSCORE', line, '-inf', dueByMs, 'LIMIT', 0, max)
  for _, member in ipairs(due) do
    redis.call('ZREM', line, member)
    redis.call('XADD', deliveries, '*', 'e', isTrial and string.sub(member, 1, -2) .. ',1]' or member)
  end
  return #due
end
