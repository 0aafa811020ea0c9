-- Marks new payments as begun, right before their authorisation may be sent. The mark stands until the commit that gives
-- the payment another status. So a worker that gets a command of it later knows that the call may have been sent.
--
-- KEYS, three for each command: commands stream, begun payments hash, payment string
-- ARGV[1] consumer group
-- ARGV[2..] five for each command: entry id, consumer, member (payment key), version of the payment, and the name of the
--           delivery, or '' when a call may have been sent for it
--
-- Returns for each command: 1 begun now (also when this delivery asks again), 2 begun before by another delivery,
-- 0 the entry is not with this consumer, -1 the payment has another version.
-- include is_with
local function begin(stream, begun, payment, entry, consumer, member, version, delivery)
  if not isWith(stream, ARGV[1], entry, consumer) then
    return 0
  end
  if string.match(redis.call('GETRANGE', payment, 0, 23), '^%[%d+,(%d+),') ~= version then
    return -1
  end
  local earlier = redis.call('HGET', begun, member)
  if not earlier and delivery ~= '' then
    redis.call('HSET', begun, member, delivery)
    return 1
  end
  return earlier == delivery and 1 or 2
end
local answers = {}
local place = 1
for i = 2, #ARGV, 5 do
  local stream, begun, payment = unpack(KEYS, place, place + 2)
  answers[#answers + 1] = begin(stream, begun, payment, unpack(ARGV, i, i + 4))
  place = place + 3
end
return answers
