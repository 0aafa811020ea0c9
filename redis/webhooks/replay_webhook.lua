-- Sends an event again, behind what else of its payment is waiting.
--
-- KEYS[1] events of the payment   list   KEYS[2] deliveries   stream   KEYS[3] undeliverable   zset, by time of the event
-- ARGV[1] short form of the event   ARGV[2] place of the payment   ARGV[3] now, ms
-- ARGV[4] `undeliverable`: only if it is still listed there; `delivered`: in any case
-- ARGV[5] what the event says of its payment   ARGV[6] when it occurred, ms
--
-- Returns 1, or 0 when it was not listed, or a hundred events of its payment wait already: then it is listed.
-- include append_event
local short, place, nowMs, state, about, atMs = unpack(ARGV)
if redis.call('ZREM', KEYS[3], short) == 0 and state == 'undeliverable' then
  return 0
end
return appendEvent(KEYS[1], KEYS[2], KEYS[3], place, nowMs, short, about, atMs) and 1 or 0
