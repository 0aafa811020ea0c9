-- A page of the payments of some indexes, over all of them. A mark stands for a leaf that the caller has not opened yet.
--
-- KEYS[1..] indexes and opened leaves (zsets whose members are a prefix and a payment key or mark, all with score 0)
-- ARGV[1] `newest` first or `oldest` first   ARGV[2] how many   ARGV[3] prefix of the members
-- ARGV[4] where the range begins in that order: `(` before a payment key that is not part of it, else `[`
-- ARGV[5] where it ends, in the same form    ARGV[6..] marks of the opened leaves
--
-- Returns payment keys and marks without the prefix. The answer is complete when it has no mark.
local order, count, prefix, from, to = unpack(ARGV)
local isReversed = order == 'newest'
-- The marks of opened leaves are left out, so that many more are read.
local options = { 'BYLEX', 'LIMIT', 0, count + #ARGV - 5, isReversed and 'REV' or nil }
local known = {}
for i = 6, #ARGV do
  known[ARGV[i]] = true
end
local function bound(text)
  return string.sub(text, 1, 1) .. prefix .. string.sub(text, 2)
end
local found = {}
for i = 1, #KEYS do
  for _, prefixed in ipairs(redis.call('ZRANGE', KEYS[i], bound(from), bound(to), unpack(options))) do
    local member = string.sub(prefixed, #prefix + 1)
    if not known[member] then
      known[member] = true
      found[#found + 1] = member
    end
  end
end
table.sort(found, isReversed and function(a, b) return a > b end or nil)
return { unpack(found, 1, math.min(tonumber(count), #found)) }
