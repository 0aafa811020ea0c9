-- Accepts a new payment: idempotency record, payment, indexes, command and wake-up, all or nothing.
--
-- keys.idempotency   string   record of the request
-- keys.payment       string
-- keys.commands      stream
-- keys.pending       zset     index of the status
-- keys.references    zset     index of references
-- keys.reconcile     zset     payments by their next reconciliation
-- keys.counter       string   commit counter
--
-- given.request, given.lifeMs     the record of the request, and how long it lives; absent: for ever
-- given.payment, given.member     the payment, and its key
-- given.reference                 its member of the index of references
-- given.wakeAtMs                  when it is looked at if its command is lost
-- given.fields                    of the command entry, in pairs
--
-- Returns the count when accepted, else the record that an earlier request left.
-- include advance
-- include digits
local earlier = redis.call('GET', keys.idempotency)
if earlier then
  return earlier
end
-- Redis keeps what was written before a command that fails, as on a key of another type. SET never does: it comes last.
redis.call('ZADD', keys.pending, 0, given.member)
redis.call('ZADD', keys.references, 0, given.reference)
redis.call('ZADD', keys.reconcile, given.wakeAtMs, given.member)
local count = advance(keys.counter)
-- The entry carries the payment, so that the worker needs no read.
redis.call('XADD', keys.commands, '*', 's', given.payment, unpack(given.fields))
local life = given.lifeMs and { 'PX', digits(given.lifeMs) } or {}
redis.call('SET', keys.idempotency, given.request, unpack(life))
redis.call('SET', keys.payment, given.payment)
return count
