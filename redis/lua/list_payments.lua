-- One page of a merchant's payments, newest first, over any number of status indexes.
--
-- KEYS[1..] indexes of the statuses (zsets whose members are compact ids, all with score 0)
-- ARGV[1] upper bound: '+' or '(' and the last compact id of the page before   ARGV[2] page size
--
-- Returns compact ids, at most one more than the page size (so that the caller sees whether there is another page).
local wanted = tonumber(ARGV[2]) + 1
local found = {}
for i = 1, #KEYS do
  local members = redis.call('ZREVRANGEBYLEX', KEYS[i], ARGV[1], '-', 'LIMIT', 0, wanted)
  for j = 1, #members do
    found[#found + 1] = members[j]
  end
end
table.sort(found, function(a, b) return a > b end)
return { unpack(found, 1, math.min(wanted, #found)) }
