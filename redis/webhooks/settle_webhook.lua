-- Writes down what became of the first event of a payment, ends the command, and arranges what comes next: all of it,
-- or nothing.
--
-- KEYS[1] deliveries    stream    KEYS[2] events of the payment    list    KEYS[3] tries of the first one    list
-- KEYS[4] due times     zset      KEYS[5] parked payments          zset    KEYS[6] releases of merchants     zset
-- KEYS[7] circuit       hash      KEYS[8] journal                  stream  KEYS[9] attempts                  stream
-- KEYS[10] undeliverable zset, by time of the event
-- ARGV[1] consumer group   ARGV[2] entry id   ARGV[3] place of the payment   ARGV[4] merchant
-- ARGV[5] the event as it was read     ARGV[6] how many tries it had
-- ARGV[7] `delivered`, `waiting`, `parked`, `undeliverable` or `forgotten`            ARGV[8] attempt or ''
-- ARGV[9] waiting: when it is due; parked: when it is given up; else: when it occurred, ms      ARGV[10] now, ms
-- ARGV[11] `well`, `failed` or '' (nothing was sent)             ARGV[12] 1: the command is a probe
-- ARGV[13] how long the receiver asked to be left alone, ms      ARGV[14] parked payments to release
-- ARGV[15] oldest delivery to remember, ms                       ARGV[16] attempts to keep
-- ARGV[17] undeliverable events to keep   ARGV[18] time of the oldest of them to keep, ms   ARGV[19] how long they may
--   stay when no other follows, ms                               ARGV[20] short form of the event
--
-- The fence: a worker whose command was taken over writes nothing, and an event that is not the first one any more is left.
-- Returns how many undeliverable events were dropped, or -1 TAKEN_OVER.
-- include release_parked
local stream, events, tries, dueTimes, parked, releases, circuit, journal, attempts, undeliverable = unpack(KEYS)
local group, entry, token, merchant, event, tried, move, attempt, atMs, nowMs, health, probe, waitMs, room, journalFromMs, attemptsKept, undeliverableMax, undeliverableFromMs, undeliverableMs, short =
  unpack(ARGV)
if redis.call('XACK', stream, group, entry) == 0 then
  return -1
end
redis.call('XDEL', stream, entry)
local untilMs = redis.call('HGET', circuit, 'until')
local isFirst = redis.call('LINDEX', events, 0) == event and redis.call('LLEN', tries) == tonumber(tried)
local dropped = 0
if isFirst and move == 'waiting' then
  redis.call('RPUSH', tries, attempt)
  redis.call('ZADD', dueTimes, atMs, token)
elseif isFirst and move == 'parked' then
  redis.call('ZADD', parked, atMs, token)
  redis.call('ZADD', releases, 'NX', untilMs or nowMs + 1000, merchant)
else
  if isFirst then
    redis.call('LPOP', events)
    redis.call('DEL', tries)
  end
  if isFirst and move == 'delivered' then
    redis.call('XADD', journal, 'MINID', '~', journalFromMs .. '-0', '*', 'e', short)
  elseif isFirst and move == 'undeliverable' then
    redis.call('ZADD', undeliverable, atMs, short)
    dropped = redis.call('ZREMRANGEBYSCORE', undeliverable, '-inf', '(' .. undeliverableFromMs)
      + redis.call('ZREMRANGEBYRANK', undeliverable, 0, -1 - undeliverableMax)
    redis.call('PEXPIRE', undeliverable, undeliverableMs)
  end
  if redis.call('EXISTS', events) == 1 then
    redis.call('XADD', stream, '*', 'e', token)
  end
end
if attempt ~= '' then
  redis.call('XADD', attempts, 'MAXLEN', '~', attemptsKept, '*', 'a', attempt)
end
if health == 'well' then
  redis.call('DEL', circuit)
  -- `timers` looks again for when no further success releases the rest.
  releaseParked(parked, releases, stream, merchant, tonumber(room), false, nowMs + 1000)
elseif health == 'failed' and (probe == '1' or not untilMs) then
  -- What was sent before the circuit opened does not make the pause longer.
  local failures = redis.call('HINCRBY', circuit, 'failures', 1)
  redis.call('HSETNX', circuit, 'since', nowMs)
  if failures >= 5 or tonumber(waitMs) > 0 then
    local pauseMs = ({ 1000, 2000, 4000, 8000, 16000 })[math.max(failures - 4, 1)] or 30000
    untilMs = nowMs + math.min(math.max(pauseMs, tonumber(waitMs)), 30000)
    redis.call('HSET', circuit, 'until', untilMs)
    redis.call('ZADD', releases, untilMs, merchant)
  end
end
return dropped
