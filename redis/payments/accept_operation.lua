-- Accepts a capture or cancel of an existing payment, or records its refusal: all or nothing.
-- Both were decided for one version of the payment. For another version nothing is done, and the caller decides again.
--
-- keys.idempotency   string   record of the request
-- keys.payment       string
-- keys.commands      stream
-- keys.counter       string   commit counter
--
-- given.request, given.lifeMs   the record of the request, and how long it lives
-- given.version                 of the payment
-- given.mayBeItself             the refusal may be about this very request, which is in flight
-- given.isKnown                 the payment has a refund under the key of this request
-- given.fields                  of the command entry, in pairs; absent: the request is refused
--
-- Returns {'accepted', count}, {'earlier', payment record, idempotency value}, or {'known'}, or
-- {'changed', payment record or ''}.
-- include advance
-- include digits
-- include is_open_record
local LOST_AFTER_MS = 60000
local payment = redis.call('GET', keys.payment) or ''
local earlier = redis.call('GET', keys.idempotency)
local isSameVersion = string.match(payment, '^%[%d+,(%d+),') == given.version
-- The same request is open for so long, and not in flight: its command may be lost, and is written again unless the
-- payment has its refund. If the command is not lost, commit.lua begins one of the two.
local isOpen = isOpenRecord(earlier)
local rest = isOpen and string.sub(earlier, 6) or ''
local isLost = isOpen
  and isSameVersion
  and not given.mayBeItself
  and string.sub(given.request, #given.request - #rest + 1) == rest
  and given.lifeMs - redis.call('PTTL', keys.idempotency) >= LOST_AFTER_MS
if earlier and not isLost then
  return { 'earlier', payment, earlier }
end
if not isSameVersion then
  return { 'changed', payment }
end
if given.isKnown then
  return { 'known' }
end
-- What can fail, as on a key of another type, comes before SET: Redis keeps what was written.
local count = advance(keys.counter)
if given.fields then
  redis.call('XADD', keys.commands, '*', unpack(given.fields))
end
redis.call('SET', keys.idempotency, given.request, 'PX', digits(given.lifeMs))
return { 'accepted', count }
