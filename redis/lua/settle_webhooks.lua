-- Writes down what became of some webhook events of one merchant. Only the holder of the partition may.
--
-- An event is in one place at a time: in the outbox (fresh), in the waiting line of its payment, among the
-- undeliverable (in its short form), or gone (delivered; the journal keeps its short form). A line of a payment is its
-- waiting records joined by newlines; a record begins with `<event id> <attempts> `.
--
-- KEYS[1] lease     string    KEYS[2] outbox         stream    KEYS[3] waiting lines    hash, by payment
-- KEYS[4] due times zset      KEYS[5] merchants due  zset      KEYS[6] undeliverable    zset, by time of the event
-- KEYS[7] journal   stream    KEYS[8] attempts       stream
-- ARGV[1] holder    ARGV[2] merchant     ARGV[3] oldest delivery to remember, ms     ARGV[4] attempts to keep
-- ARGV[5] undeliverable events to keep   ARGV[6] time of the oldest of them to keep, ms   ARGV[7] how long they may stay
--   when no other follows, ms
-- ARGV[8..] seven per event: move (`delivered`, `waiting`, `undeliverable` or `forgotten`), outbox entry ('': it was the
--   head of its line), payment, head as expected (`<event id> <attempts> `), record of the new place, time in ms (when it
--   is due; of what is undeliverable, when it occurred), attempt
--
-- A move whose event is not where it was expected was made before, and is skipped: repeating a call is safe.
-- Returns {how many undeliverable events were dropped, for each event 1 if its payment has a line now, else 0}; or -1
-- NOT_HOLDER.
local lease, outbox, lines, dueTimes, dueMerchants, undeliverable, journal, attempts = unpack(KEYS)
local holder, merchant, journalFromMs, attemptsKept, undeliverableMax, undeliverableFromMs, undeliverableMs =
  unpack(ARGV, 1, 7)
if redis.call('GET', lease) ~= holder then
  return -1
end
local result = {0}
local isGivenUp = false
for i = 8, #ARGV, 7 do
  local move, entry, payment, head, record, due, attempt = unpack(ARGV, i, i + 6)
  local line = redis.call('HGET', lines, payment)
  local wasLine = line
  local isFound
  if entry ~= '' then
    isFound = redis.call('XDEL', outbox, entry) == 1
  else
    isFound = line and string.sub(line, 1, #head) == head
    if isFound then
      local stop = string.find(line, '\n', 1, true)
      line = stop and string.sub(line, stop + 1)
    end
  end
  if isFound then
    if move == 'delivered' then
      redis.call('XADD', journal, 'MINID', '~', journalFromMs .. '-0', '*', 'e', record)
    elseif move == 'undeliverable' then
      redis.call('ZADD', undeliverable, due, record)
      isGivenUp = true
    elseif move == 'waiting' and entry ~= '' then
      line = line and line .. '\n' .. record or record
    elseif move == 'waiting' then
      line = line and record .. '\n' .. line or record
    end
    if attempt ~= '' then
      redis.call('XADD', attempts, 'MAXLEN', '~', attemptsKept, '*', 'a', attempt)
    end
    if wasLine and not line then
      redis.call('HDEL', lines, payment)
      redis.call('ZREM', dueTimes, payment)
    elseif line ~= wasLine then
      redis.call('HSET', lines, payment, line)
      -- What is given up is old; the next one has a whole span of its own. `n` of a record is its due time.
      due = move == 'undeliverable' and string.match(line, '"n":(%d+)') or due
      -- A fresh event at the end of a line does not hurry its head.
      redis.call('ZADD', dueTimes, unpack(entry ~= '' and wasLine and {'NX', due, payment} or {due, payment}))
    end
  end
  result[#result + 1] = line and 1 or 0
end
if isGivenUp then
  local tooOld = redis.call('ZREMRANGEBYSCORE', undeliverable, '-inf', '(' .. undeliverableFromMs)
  result[1] = tooOld + redis.call('ZREMRANGEBYRANK', undeliverable, 0, -1 - undeliverableMax)
  redis.call('PEXPIRE', undeliverable, undeliverableMs)
end
local first = redis.call('ZRANGE', dueTimes, 0, 0, 'WITHSCORES')
if first[1] then
  redis.call('ZADD', dueMerchants, first[2], merchant)
else
  redis.call('ZREM', dueMerchants, merchant)
end
return result
