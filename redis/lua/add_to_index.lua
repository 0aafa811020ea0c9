-- Included by the scripts that add a payment to an index: the first key that has room takes it.
-- `places` are the keys of the index, its leaves last; `marks` name the leaves, and stand in the key before each.
--
-- Returns nothing.
local function addToIndex(places, marks, prefix, member, max)
  for i = 1, #places do
    if i == #places or redis.call('ZCARD', places[i]) < tonumber(max) then
      redis.call('ZADD', places[i], 0, prefix .. member)
      local mark = marks[i - #places + #marks]
      if mark then
        redis.call('ZADD', places[i - 1], 0, prefix .. mark)
      end
      return
    end
  end
end
