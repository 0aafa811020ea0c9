-- Marks new payments as begun, right before their authorisation may be sent. The mark stands until the commit that gives
-- the payment another status, or until the delivery is released. So a worker that gets a command of it later knows that the
-- call may have been sent.
--
-- Of each command (answer_each.lua):
-- keys.commands   stream
-- keys.begun      hash     begun payments
-- keys.payment    string
-- keys.counter    string   commit counter
--
-- call.group, call.entry, call.consumer   the command, and who must have it
-- call.member, call.version   the payment: its key, and the version that was read
-- call.delivery               the name of the delivery; absent: a call may have been sent for it
--
-- Returns for each command: the count when it is begun now (also when this delivery asks again), 0 the entry is not with this
-- consumer, -1 the payment has another version, -2 begun before by another delivery, or the reason of its failure.
-- include is_with
-- include version_of
-- include advance
-- include answer_each
local function begin(keys, call)
  if not isWith(keys.commands, call.group, call.entry, call.consumer) then
    return 0
  end
  if versionOf(keys.payment) ~= call.version then
    return -1
  end
  local member, delivery = call.member, call.delivery
  local isMarked = delivery and redis.call('HSETNX', keys.begun, member, delivery) == 1
  if not isMarked and (not delivery or redis.call('HGET', keys.begun, member) ~= delivery) then
    return -2
  end
  return advance(keys.counter)
end
return answerEach(begin)
