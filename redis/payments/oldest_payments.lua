-- The oldest payments of some indexes, over all of them. A mark stands for a leaf that the caller has not opened yet.
--
-- KEYS[1..] indexes and opened leaves (zsets whose members are payment keys and marks, all with score 0)
-- ARGV[1] payment key that all results are newer than, or ''   ARGV[2] payment key that all results are older than
-- ARGV[3] how many                                             ARGV[4..] marks of the opened leaves
--
-- Returns payment keys and marks, the oldest first.
local known = {}
for i = 4, #ARGV do
  known[ARGV[i]] = true
end
local count = tonumber(ARGV[3])
local found = {}
for i = 1, #KEYS do
  -- The marks of opened leaves are left out, so that many more are read.
  local members = redis.call('ZRANGEBYLEX', KEYS[i], '(' .. ARGV[1], '(' .. ARGV[2], 'LIMIT', 0, count + #ARGV - 3)
  for j = 1, #members do
    if not known[members[j]] then
      known[members[j]] = true
      found[#found + 1] = members[j]
    end
  end
end
table.sort(found)
return { unpack(found, 1, math.min(count, #found)) }
