-- Commits one decision about one payment: all of it, or nothing.
--
-- KEYS[1] payment               string    KEYS[2] due list                 zset
-- KEYS[3] payments in review        hash      KEYS[4] webhook endpoint         string
-- KEYS[5] events to deliver     list      KEYS[6] idempotency record       string
-- KEYS[7] commands              stream    KEYS[8] payments in doubt        zset
-- KEYS[9] payments by sale      hash      KEYS[10] to reconcile            zset    KEYS[15] deliveries   stream
-- KEYS[11], KEYS[12] index of status before and its leaf; KEYS[13], KEYS[14] of status after; KEYS[16] undeliverable events (zsets)
-- ARGV[1] expected version      ARGV[2] payment record       ARGV[3] member (payment key)
-- ARGV[4] expiry, ms, or ''     ARGV[5] reason of the review or ''      ARGV[6] result of the command or ''
-- ARGV[7] consumer group        ARGV[8] entry id to acknowledge or ''   ARGV[9] reply channel or ''
-- ARGV[10] reply                ARGV[11] entry id that must still be with its worker, or ''
-- ARGV[12] place of the payment in deliveries                ARGV[13] since when the outcome is in doubt, ms, or ''
-- ARGV[14] sale id or ''        ARGV[15] next reconciliation, ms, or ''  ARGV[16] mark of the leaf
-- ARGV[17] most members of an index
-- Only with an event: ARGV[18] its short form   ARGV[19] what it says of its payment   ARGV[20] its time, ms
--
-- Returns 1, -1 VERSION_CONFLICT, or -2 TAKEN_OVER: the entry is not with any worker any more.
-- include add_to_index
-- include remove_from_index
-- include append_event
-- include store_result
local payment, due, review, endpoint, events, idempotency, commands, inDoubt, sales, reconcile, before, leaf, after, leafAfter, deliveries, undeliverable =
  unpack(KEYS)
local version, record, member, expiryMs, reason, result, group, ended, channel, reply, begun, place, doubtMs, sale, reconcileMs, mark, max, event, about, eventMs =
  unpack(ARGV)
local head = redis.call('GETRANGE', payment, 0, 23)
if string.match(head, '^%[%d+,(%d+),') ~= version then
  return -1
end
if begun ~= '' and #redis.call('XPENDING', commands, group, begun, begun, 1) == 0 then
  return -2
end
redis.call('SET', payment, record)
-- The first commit has nothing to take out: at most a wake-up that a dead letter has set, which fires once for nothing.
local isFirst = version == '1'
for list, atMs in pairs({ [due] = expiryMs, [reconcile] = reconcileMs }) do
  if atMs ~= '' then
    redis.call('ZADD', list, atMs, member)
  elseif not isFirst then
    redis.call('ZREM', list, member)
  end
end
if reason ~= '' then
  redis.call('HSET', review, member, reason)
else
  redis.call('HDEL', review, member)
end
if doubtMs ~= '' then
  -- A retry of the operation starts a new horizon; the payment stays in doubt since the first try.
  redis.call('ZADD', inDoubt, 'NX', doubtMs, member)
elseif not isFirst then
  redis.call('ZREM', inDoubt, member)
end
if before ~= after then
  removeFromIndex({ before, leaf }, mark, '', member)
  addToIndex({ after, leafAfter }, mark, '', member, max)
end
if sale ~= '' then
  redis.call('HSET', sales, sale, member)
end
if event and redis.call('EXISTS', endpoint) == 1 then
  appendEvent(events, deliveries, undeliverable, place, redis.call('TIME')[1] .. '000', event, about, eventMs)
end
if result ~= '' then
  storeResult(idempotency, result)
end
if ended ~= '' then
  redis.call('XACK', commands, group, ended)
  redis.call('XDEL', commands, ended)
end
if channel ~= '' then
  redis.call('PUBLISH', channel, reply)
end
return 1
