-- Accepts a capture or cancel of an existing payment, or records its refusal: all or nothing.
-- Both were decided for one version of the payment. For another version nothing is done, and the caller decides again.
--
-- KEYS[1] idempotency record   string    KEYS[2] payment   string
-- KEYS[3] commands             stream    KEYS[4] commit counter   string
-- ARGV[1] idempotency value    ARGV[2] its life, ms   ARGV[3] version of the payment
-- ARGV[4] 1, or '' when the refusal may be about this very request, which is under way
-- ARGV[5..] fields of the command entry, in pairs; none: the request is refused
--
-- Returns {'accepted', count}, {'earlier', payment record, idempotency value}, or {'changed', payment record or ''}.
-- include advance
local LOST_AFTER_MS = 60000
local payment = redis.call('GET', KEYS[2]) or ''
local earlier = redis.call('GET', KEYS[1])
local isSameVersion = string.match(payment, '^%[%d+,(%d+),') == ARGV[3]
-- The same request is open for so long, and not under way: its command may be lost, and is written again. If it is not,
-- commit.lua begins one of the two.
local isOpen = earlier and string.sub(earlier, 1, 5) == '[1,0,'
local rest = isOpen and string.sub(earlier, 6) or ''
local isLost = isOpen
  and isSameVersion
  and ARGV[4] ~= ''
  and string.sub(ARGV[1], #ARGV[1] - #rest + 1) == rest
  and ARGV[2] - redis.call('PTTL', KEYS[1]) >= LOST_AFTER_MS
if earlier and not isLost then
  return { 'earlier', payment, earlier }
end
if not isSameVersion then
  return { 'changed', payment }
end
-- What can fail, as on a key of another type, comes before SET: Redis keeps what was written.
local count = advance(KEYS[4])
if ARGV[5] then
  redis.call('XADD', KEYS[3], '*', unpack(ARGV, 5))
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { 'accepted', count }
