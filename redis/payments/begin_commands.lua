-- Marks new payments as begun, right before their authorisation may be sent. The mark stands until the commit that gives
-- the payment another status. So a worker that gets a command of it later knows that the call may have been sent.
--
-- KEYS, four for each command: commands stream, begun payments hash, payment string, commit counter string
-- ARGV[1] consumer group
-- ARGV[2..] five for each command: entry id, consumer, member (payment key), version of the payment, and the name of the
--           delivery, or '' when a call may have been sent for it
--
-- Returns for each command: the count when it is begun now (also when this delivery asks again), 0 the entry is not with this
-- consumer, -1 the payment has another version, -2 begun before by another delivery, or the reason of its failure.
-- include is_with
-- include version_of
-- include advance
-- include reason_of
local function begin(stream, begun, payment, counter, entry, consumer, member, version, delivery)
  if not isWith(stream, ARGV[1], entry, consumer) then
    return 0
  end
  if versionOf(payment) ~= version then
    return -1
  end
  if delivery == '' or redis.call('HSETNX', begun, member, delivery) == 0 and redis.call('HGET', begun, member) ~= delivery then
    return -2
  end
  return advance(counter)
end
local answers = {}
local place = 1
for i = 2, #ARGV, 5 do
  local stream, begun, payment, counter = unpack(KEYS, place, place + 3)
  local isDone, answer = pcall(begin, stream, begun, payment, counter, unpack(ARGV, i, i + 4))
  answers[#answers + 1] = isDone and answer or reasonOf(answer)
  place = place + 4
end
return answers
