-- The first members of some indexes, over all of them: one step, so that no payment is missed or met twice which moves from
-- one to the other.
--
-- KEYS[1..]               the indexes, zsets, all with score 0
-- given.isReversed        the newest first
-- given.count             how many
-- given.from, given.to    where the range begins and ends in that order, as ZRANGE takes them
--
-- Returns the members.
local options = { 'BYLEX', 'LIMIT', 0, given.count, given.isReversed and 'REV' or nil }
local found = {}
for i = 1, #KEYS do
  for _, member in ipairs(redis.call('ZRANGE', KEYS[i], given.from, given.to, unpack(options))) do
    found[#found + 1] = member
  end
end
table.sort(found, given.isReversed and function(a, b) return a > b end or nil)
return { unpack(found, 1, math.min(given.count, #found)) }
