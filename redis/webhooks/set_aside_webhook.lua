-- Makes the first event of a payment, which is damaged, a dead letter, and lets the next one follow.
--
-- KEYS[1] deliveries   stream    KEYS[2] events of the payment   list    KEYS[3] tries of the first one   list
-- KEYS[4] dead letters stream
-- ARGV[1] consumer group   ARGV[2] entry id   ARGV[3] the event as it was read   ARGV[4] place of the payment
-- ARGV[5..] further fields of the letter, in pairs
--
-- Returns 1, or 0 when another worker has the command by now.
local stream, events, tries, letters = unpack(KEYS)
local group, entry, event, place = unpack(ARGV)
if redis.call('XACK', stream, group, entry) == 0 then
  return 0
end
redis.call('XDEL', stream, entry)
if redis.call('LINDEX', events, 0) == event then
  redis.call('LPOP', events)
  redis.call('DEL', tries)
  redis.call('XADD', letters, '*', 'e', place, 'event', event, unpack(ARGV, 5))
end
if redis.call('EXISTS', events) == 1 then
  redis.call('XADD', stream, '*', 'e', place)
end
return 1
