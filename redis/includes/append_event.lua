-- Included by the scripts that put a webhook event behind those of its payment; the first one gets its command.
--
-- keys.events       list     events of the payment
-- keys.deliveries   stream   commands
--
-- given.lineMember           the payment, as it stands in deliveries
-- given.event, given.about   the event in its short form, and what it says of its payment: texts of lists, which become parts of
--                            the list that is stored
-- given.waitingMax           how many events of a payment may wait
--
-- Returns whether it waits; else there is no room.
local function appendEvent(sinceMs)
  -- First, because it fails with a key of another type: an event without its command would wait for ever.
  if redis.call('EXISTS', keys.events) == 0 then
    redis.call('XADD', keys.deliveries, '*', 'e', given.lineMember)
  end
  local waiting = redis.call('RPUSH', keys.events, '[1,' .. sinceMs .. ',' .. given.about .. ',' .. given.event .. ']')
  if waiting > given.waitingMax then
    redis.call('RPOP', keys.events)
  end
  return waiting <= given.waitingMax
end
