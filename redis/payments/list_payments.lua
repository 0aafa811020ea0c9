-- The newest payments of some indexes, over all of them. A mark stands for a leaf that the caller has not opened yet.
--
-- KEYS[1..] indexes and opened leaves (zsets whose members are a prefix and a payment key or mark, all with score 0)
-- ARGV[1] payment key that all results are older than, or '~'   ARGV[2] how many
-- ARGV[3] prefix of the members                                 ARGV[4] payment key that no result is older than, or ''
-- ARGV[5..] marks of the opened leaves
--
-- Returns payment keys and marks without the prefix, the newest first. The answer is complete when it has no mark.
local count = tonumber(ARGV[2])
local known = {}
for i = 5, #ARGV do
  known[ARGV[i]] = true
end
local found = {}
for i = 1, #KEYS do
  -- The marks of opened leaves are left out, so that many more are read.
  local limit = count + #ARGV - 4
  local members = redis.call('ZREVRANGEBYLEX', KEYS[i], '(' .. ARGV[3] .. ARGV[1], '[' .. ARGV[3] .. ARGV[4], 'LIMIT', 0, limit)
  for j = 1, #members do
    local member = string.sub(members[j], #ARGV[3] + 1)
    if not known[member] then
      known[member] = true
      found[#found + 1] = member
    end
  end
end
table.sort(found, function(a, b) return a > b end)
return { unpack(found, 1, math.min(count, #found)) }
