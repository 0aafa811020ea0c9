-- Included by the scripts that put a webhook event behind those of its payment; the first one gets its command. A hundred
-- wait at most, which bounds memory for a dead endpoint. A further one is undeliverable at once.
-- `short` and `about` are texts of lists, and become parts of the list that is stored.
--
-- Returns whether it waits.
local function appendEvent(events, deliveries, undeliverable, place, sinceMs, short, about, atMs)
  local waiting = redis.call('RPUSH', events, '[1,' .. sinceMs .. ',' .. about .. ',' .. short .. ']')
  if waiting == 1 then
    redis.call('XADD', deliveries, '*', 'e', place)
  elseif waiting > 100 then
    redis.call('RPOP', events)
    redis.call('ZADD', undeliverable, atMs, '[1,' .. short .. ']')
  end
  return waiting <= 100
end
