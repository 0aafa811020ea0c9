-- Writes what was concluded about the first event of a payment (machines/webhook-delivery.ts), ends the command, and lets the
-- next event follow: all of it, or nothing.
--
-- keys.deliveries     stream   commands
-- keys.events         list     events of the payment
-- keys.line           zset     payments that wait, of this endpoint
-- keys.lines          zset     endpoints by the time at which their line is due
-- keys.failing        string   the endpoint while it fails
-- keys.journal        stream   delivered events
-- keys.undeliverable  zset     by time of the event
-- keys.letters        stream   dead letters
--
-- given.group, given.entry      the command; given.lineMember the payment, given.merchant its merchant
-- given.event                   the event as it was read; given.retry the same with one more failed attempt
-- given.before, given.failing   the endpoint as it was read, and from now on; absent: it works
-- given.result                  `waits`, `delivered`, `undeliverable`, `forgotten` or `set aside`
-- given.dueMs                   of an event that waits: when it is due
-- given.record                  of one that is delivered or undeliverable: as the log has it
-- given.occurredMs              when it occurred; given.journalFromMs the oldest that is kept
-- given.undeliverableMax, given.undeliverableFromMs, given.undeliverableMs   how many are kept, from when, for how long
-- given.letter                  of one that is set aside: the fields of the dead letter, in pairs
-- given.lineDueMs               when the line is due, at the latest
-- given.follow, given.followDueByMs   how many of the line go on, of those due by then
--
-- The fence: a worker whose command was taken over writes nothing, and an event that is not the first one any more is left.
-- Returns how many undeliverable events were dropped, -1 TAKEN_OVER, or the endpoint when another worker has changed it: a
-- text, '' if it works.
-- include fire_line
-- include digits
local failing = redis.call('GET', keys.failing) or nil
if failing ~= given.before then
  return failing or ''
end
local isFirst = redis.call('LINDEX', keys.events, 0) == given.event
-- Redis keeps what was written before a command that fails: a key of another type fails here, where nothing is written yet.
if given.result == 'delivered' then redis.call('XLEN', keys.journal) end
if given.result == 'undeliverable' then redis.call('ZCARD', keys.undeliverable) end
if given.result == 'set aside' then redis.call('XLEN', keys.letters) end
if given.result == 'waits' then redis.call('ZCARD', keys.line) end
if given.lineDueMs then redis.call('ZCARD', keys.lines) end
if redis.call('XACK', keys.deliveries, given.group, given.entry) == 0 then
  return -1
end
redis.call('XDEL', keys.deliveries, given.entry)
local dropped = 0
if isFirst and given.result == 'waits' then
  redis.call('ZADD', keys.line, given.dueMs, given.lineMember)
  if given.retry then
    redis.call('LSET', keys.events, 0, given.retry)
  end
else
  if isFirst then
    redis.call('LPOP', keys.events)
  end
  if isFirst and given.result == 'delivered' then
    redis.call('XADD', keys.journal, 'MINID', '~', given.journalFromMs .. '-0', '*', 'e', given.record)
  elseif isFirst and given.result == 'undeliverable' then
    redis.call('ZADD', keys.undeliverable, given.occurredMs, given.record)
    dropped = redis.call('ZREMRANGEBYSCORE', keys.undeliverable, '-inf', '(' .. given.undeliverableFromMs)
      + redis.call('ZREMRANGEBYRANK', keys.undeliverable, 0, -1 - given.undeliverableMax)
    redis.call('PEXPIRE', keys.undeliverable, digits(given.undeliverableMs))
  elseif isFirst and given.result == 'set aside' then
    redis.call('XADD', keys.letters, '*', 'e', given.lineMember, 'event', given.event, unpack(given.letter))
  end
  if redis.call('EXISTS', keys.events) == 1 then
    redis.call('XADD', keys.deliveries, '*', 'e', given.lineMember)
  end
end
if not given.failing then
  redis.call('DEL', keys.failing)
elseif given.failing ~= given.before then
  redis.call('SET', keys.failing, given.failing)
end
if given.lineDueMs then
  redis.call('ZADD', keys.lines, 'LT', given.lineDueMs, given.merchant)
end
if given.follow then
  fireLine(keys.line, keys.deliveries, given.followDueByMs, given.follow)
end
return dropped
