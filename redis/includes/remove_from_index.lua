-- Included by the scripts that take a payment out of an index. `places` and `mark` are those of addToIndex.
--
-- Returns nothing.
local function removeFromIndex(places, mark, prefix, member)
  local last = #places
  for i = 1, last - 1 do
    if redis.call('ZREM', places[i], prefix .. member) == 1 then
      return
    end
  end
  redis.call('ZREM', places[last], prefix .. member)
  if redis.call('EXISTS', places[last]) == 0 then
    redis.call('ZREM', places[last - 1], prefix .. mark)
  end
end
