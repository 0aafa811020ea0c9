-- The first members of some indexes, over all of them: one step, so that no payment is missed or met twice which moves from
-- one to the other.
--
-- KEYS[1..] indexes   zsets, all with score 0
-- ARGV[1] `newest` first or `oldest` first   ARGV[2] how many
-- ARGV[3], ARGV[4] where the range begins and ends in that order, as ZRANGE takes them
--
-- Returns the members.
local order, count, from, to = unpack(ARGV)
local isReversed = order == 'newest'
local options = { 'BYLEX', 'LIMIT', 0, count, isReversed and 'REV' or nil }
local found = {}
for i = 1, #KEYS do
  for _, member in ipairs(redis.call('ZRANGE', KEYS[i], from, to, unpack(options))) do
    found[#found + 1] = member
  end
end
table.sort(found, isReversed and function(a, b) return a > b end or nil)
return { unpack(found, 1, math.min(tonumber(count), #found)) }
