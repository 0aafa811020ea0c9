-- Puts events back into the outbox: they are delivered like fresh ones, behind the waiting events of their payment.
--
-- KEYS[1] outbox                stream
-- KEYS[2] undeliverable         zset, by time of the event
-- KEYS[3] undeliverable, old    hash, by event id: records of older versions
-- ARGV[1] merchant
-- ARGV[2] `undeliverable`: only what is still listed there; `delivered`: anything
-- ARGV[3..] five per event: event id, payment (compact id), version, body, short form
--
-- Returns how many were put back.
local count = 0
for i = 3, #ARGV, 5 do
  local listed = redis.call('ZREM', KEYS[2], ARGV[i + 4]) + redis.call('HDEL', KEYS[3], ARGV[i])
  if listed > 0 or ARGV[2] == 'delivered' then
    redis.call('XADD', KEYS[1], '*', 'm', ARGV[1], 'p', ARGV[i + 1], 'v', ARGV[i + 2], 'e', ARGV[i + 3])
    count = count + 1
  end
end
return count
