-- Included by the scripts that put a webhook event behind those of its payment; the first one gets its command. A hundred
-- wait at most, which bounds memory for a dead endpoint. A further one is undeliverable at once.
-- `short` and `about` are texts of lists, and become parts of the list that is stored.
--
-- Returns whether it waits.
local function appendEvent(events, deliveries, undeliverable, place, sinceMs, short, about, atMs)
  -- First, because it fails with a key of another type: an event without its command would wait for ever.
  if redis.call('EXISTS', events) == 0 then
    redis.call('XADD', deliveries, '*', 'e', place)
  end
  local waiting = redis.call('RPUSH', events, '[1,' .. sinceMs .. ',' .. about .. ',' .. short .. ']')
  if waiting > 100 then
    redis.call('RPOP', events)
    redis.call('ZADD', undeliverable, atMs, '[1,' .. short .. ']')
  end
  return waiting <= 100
end
