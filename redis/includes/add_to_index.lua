-- Included by the scripts that add a payment to an index: the first key that has room takes it.
-- `places` are the keys of the index, its leaf last; `mark` names the leaf, and stands in the key before it.
--
-- Returns nothing.
local function addToIndex(places, mark, prefix, member, max)
  local last = #places
  for i = 1, last - 1 do
    if redis.call('ZCARD', places[i]) < tonumber(max) then
      redis.call('ZADD', places[i], 0, prefix .. member)
      return
    end
  end
  redis.call('ZADD', places[last], 0, prefix .. member)
  redis.call('ZADD', places[last - 1], 0, prefix .. mark)
end
