-- Commits one decision about one payment: all of it, or nothing.
-- KEYS[1] payment string   KEYS[2] due list zset   KEYS[3] payments in review hash   KEYS[4] webhook endpoint string
-- KEYS[5] events to deliver list   KEYS[6] idempotency record string   KEYS[7] commands stream   KEYS[8] payments in doubt zset
-- KEYS[9] payments by sale hash   KEYS[10] to reconcile zset   KEYS[11], KEYS[12] index of the status before, and after   zsets
-- KEYS[13] deliveries stream   KEYS[14] undeliverable events zset   KEYS[15] begun payments hash   KEYS[16] commit counter string
-- ARGV[1] expected version      ARGV[2] payment record       ARGV[3] member (payment key)
-- ARGV[4] expiry, ms, or ''     ARGV[5] reason of the review or ''      ARGV[6] result of the command or ''
-- ARGV[7] consumer group        ARGV[8] entry id to acknowledge or ''   ARGV[9] reply channel or ''   ARGV[10] reply
-- ARGV[11] entry id that begins, or ''   ARGV[12] place of the payment in deliveries   ARGV[14] sale id or ''
-- ARGV[13] since when the outcome is in doubt, ms, or ''   ARGV[15] next reconciliation, ms, or ''
-- ARGV[16] consumer that must have what begins   ARGV[17] 1: the record must be open, or ''
-- Only with an event: ARGV[18] its short form   ARGV[19] what it says of its payment   ARGV[20] its time, ms
-- Returns the count, or -1 VERSION_CONFLICT, -2 TAKEN_OVER: not with this consumer, or -3 ANSWERED: the request has its result.
-- include version_of
-- include is_with
-- include append_event
-- include store_result
-- include advance
local payment, due, review, endpoint, events, idempotency, commands, inDoubt, sales, reconcile, before, after, deliveries, undeliverable, begunPayments, counter =
  unpack(KEYS)
local version, record, member, expiryMs, reason, result, group, ended, channel, reply, begins, place, doubtMs, sale, reconcileMs, consumer, mustBeOpen, event, about, eventMs =
  unpack(ARGV)
if versionOf(payment) ~= version then
  return -1
end
if begins ~= '' and not isWith(commands, group, begins, consumer) then
  return -2
end
local request = (mustBeOpen ~= '' or result ~= '') and redis.call('GET', idempotency)
if mustBeOpen ~= '' and string.sub(request or '', 1, 5) ~= '[1,0,' then
  return -3
end
-- Until the record is written, the command tries again: what can fail comes first (a key of another type), the mark goes last.
local function wakeIn(list, atMs, mayWait)
  if atMs ~= '' then
    redis.call('ZADD', list, atMs, member)
  elseif mayWait then
    redis.call('ZREM', list, member)
  end
end
wakeIn(due, expiryMs, version ~= '1') -- The first commit has only the wake-up of the acceptance to take out.
wakeIn(reconcile, reconcileMs, true)
if reason ~= '' then
  redis.call('HSET', review, member, reason)
else
  redis.call('HDEL', review, member)
end
if doubtMs ~= '' then
  -- A retry of the operation starts a new horizon; the payment stays in doubt since the first try.
  redis.call('ZADD', inDoubt, 'NX', doubtMs, member)
elseif version ~= '1' then
  redis.call('ZREM', inDoubt, member)
end
if before ~= after then
  redis.call('ZREM', before, member)
  redis.call('ZADD', after, 0, member)
end
if sale ~= '' then
  redis.call('HSET', sales, sale, member)
end
local count = advance(counter)
if event and redis.call('EXISTS', endpoint) == 1 then
  appendEvent(events, deliveries, undeliverable, place, redis.call('TIME')[1] .. '000', event, about, eventMs)
end
if result ~= '' then
  storeResult(idempotency, request, result)
end
redis.call('SET', payment, record)
if before ~= after then
  redis.call('HDEL', begunPayments, member)
end
-- Also one that another worker has by now: with its result written, none may begin it again.
if ended ~= '' then
  redis.call('XACK', commands, group, ended)
  redis.call('XDEL', commands, ended)
end
if channel ~= '' then
  redis.call('PUBLISH', channel, reply)
end
return count
