-- Included by every script that accepts, begins or commits: each counts itself in its partition. Processes remember what was
-- answered, so that data which comes back older is noticed (decision 31).
--
-- Returns the counter, which holds its epoch (epochs.ts).
local function advance(counter)
  return redis.call('INCR', counter)
end
