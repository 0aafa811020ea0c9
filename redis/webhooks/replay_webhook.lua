-- Sends an event again, behind what else of its payment is waiting.
--
-- keys.events          list     events of the payment
-- keys.deliveries      stream   commands
-- keys.undeliverable   zset     by time of the event
-- given.short, given.about, given.occurredMs   the event: its short form, what it says of its payment, when it occurred
-- given.place, given.nowMs                     the payment; since when the event waits
-- given.isListed       only if it is still listed as undeliverable; absent: in any case
--
-- Returns 1, or 0 when it was not listed, or a hundred events of its payment wait already: then it is listed.
-- include append_event
local wasListed = redis.call('ZREM', keys.undeliverable, given.short) == 1
if given.isListed and not wasListed then
  return 0
end
local nowMs, occurredMs = given.nowMs, given.occurredMs
return appendEvent(keys.events, keys.deliveries, keys.undeliverable, given.place, nowMs, given.short, given.about, occurredMs) and 1 or 0
