-- Sends an event again, behind what else of its payment is waiting.
--
-- keys.events          list     events of the payment
-- keys.deliveries      stream   commands
-- keys.undeliverable   zset     by time of the event
-- given.short, given.about, given.occurredMs   the event: its short form, what it says of its payment, when it occurred
-- given.place, given.nowMs                     the payment; since when the event waits
-- given.listed         as what it is listed as undeliverable; absent: it is not
--
-- Returns 1, or 0 when it is not listed any more, or a hundred events of its payment wait already: then it is listed.
-- include append_event
-- include reason_of
if given.listed and redis.call('ZREM', keys.undeliverable, given.listed) == 0 then
  return 0
end
local nowMs, occurredMs = given.nowMs, given.occurredMs
local isDone, outcome =
  pcall(appendEvent, keys.events, keys.deliveries, keys.undeliverable, given.place, nowMs, given.short, given.about, occurredMs)
if not isDone then
  -- A key of another type: the event is not lost.
  if given.listed then
    redis.call('ZADD', keys.undeliverable, occurredMs, given.listed)
  end
  return redis.error_reply(reasonOf(outcome))
end
return outcome and 1 or 0
