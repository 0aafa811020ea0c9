-- Commits one decision about one payment: all of it, or nothing. What is given to index_payment.lua and append_event.lua is
-- said there.
--
-- keys.payment       string
-- keys.idempotency   string   record of the request
-- keys.commands      stream
-- keys.begun         hash     begun payments
-- keys.counter       string   commit counter
-- keys.endpoint      string   the webhook endpoint of the merchant
-- keys.before        zset     index of the status before
-- keys.after         zset     index of the status from now on
-- keys.undeliverable zset     webhook events that were given up, by their time
--
-- given.version, given.record    the version that must be there; the payment from now on
-- given.member                   the payment key
-- given.group, given.ends        the command that ends; absent: an effect is due
-- given.begins, given.consumer   the command that begins, and who must have it
-- given.mustBeOpen               the request must have no result yet
-- given.result                   the result of the request; absent: none yet
-- given.channel, given.reply     the reply to the request that waits; absent: none waits
-- given.event, given.occurredMs  of a change of status; when it was
-- given.undeliverableMs          how long it is kept if it can't wait, and all that was given up before
--
-- Returns the count, or -1 VERSION_CONFLICT, -2 TAKEN_OVER: not with this consumer, or -3 ANSWERED: the request has its result.
-- include version_of
-- include is_with
-- include index_payment
-- include append_event
-- include store_result
-- include advance
-- include digits
if versionOf(keys.payment) ~= given.version then
  return -1
end
if given.begins and not isWith(keys.commands, given.group, given.begins, given.consumer) then
  return -2
end
local request = (given.mustBeOpen or given.result) and redis.call('GET', keys.idempotency)
if given.mustBeOpen and not isOpenRecord(request) then
  return -3
end
-- Until the record is written, the command tries again: what can fail comes first (a key of another type), the mark goes last.
indexPayment()
local count = advance(keys.counter)
if given.event and redis.call('EXISTS', keys.endpoint) == 1 then
  if not appendEvent(redis.call('TIME')[1] .. '000') then
    redis.call('ZADD', keys.undeliverable, given.occurredMs, '[1,' .. given.event .. ']')
    redis.call('PEXPIRE', keys.undeliverable, digits(given.undeliverableMs))
  end
end
if given.result then
  storeResult(keys.idempotency, request, given.result)
end
redis.call('SET', keys.payment, given.record)
if keys.before ~= keys.after then
  redis.call('HDEL', keys.begun, given.member)
end
-- Also one that another worker has by now: with its result written, none may begin it again.
if given.ends then
  redis.call('XACK', keys.commands, given.group, given.ends)
  redis.call('XDEL', keys.commands, given.ends)
end
if given.channel then
  redis.call('PUBLISH', given.channel, given.reply)
end
return count
