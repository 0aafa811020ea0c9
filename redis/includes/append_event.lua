-- Included by the scripts that put a webhook event behind those of its payment; the first one gets its command. A hundred
-- wait at most, which bounds memory for a dead endpoint. A further one is undeliverable at once.
--
-- keys.events          list     events of the payment
-- keys.deliveries      stream   commands
-- keys.undeliverable   zset     by time of the event
--
-- given.place                the payment, as it stands in deliveries
-- given.event, given.about   the event in its short form, and what it says of its payment: texts of lists, which become parts of
--                            the list that is stored
-- given.occurredMs           when it occurred
--
-- Returns whether it waits.
local function appendEvent(sinceMs)
  -- First, because it fails with a key of another type: an event without its command would wait for ever.
  if redis.call('EXISTS', keys.events) == 0 then
    redis.call('XADD', keys.deliveries, '*', 'e', given.place)
  end
  local waiting = redis.call('RPUSH', keys.events, '[1,' .. sinceMs .. ',' .. given.about .. ',' .. given.event .. ']')
  if waiting > 100 then
    redis.call('RPOP', keys.events)
    redis.call('ZADD', keys.undeliverable, given.occurredMs, '[1,' .. given.event .. ']')
  end
  return waiting <= 100
end
