-- Accepts a capture or cancel of an existing payment, or records its refusal: all or nothing.
-- Both were decided for one version of the payment. For another version nothing is done, and the caller decides again.
--
-- KEYS[1] idempotency record   string    KEYS[2] payment   string
-- KEYS[3] commands             stream
-- ARGV[1] idempotency value    ARGV[2] its life, ms   ARGV[3] version of the payment
-- ARGV[4..] fields of the command entry, in pairs; none: the request is refused
--
-- Returns {'accepted'}, {'earlier', payment record, idempotency value}, or {'changed', payment record or ''}.
local payment = redis.call('GET', KEYS[2]) or ''
local earlier = redis.call('GET', KEYS[1])
if earlier then
  return { 'earlier', payment, earlier }
end
if string.match(payment, '^%[%d+,(%d+),') ~= ARGV[3] then
  return { 'changed', payment }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if ARGV[4] then
  redis.call('XADD', KEYS[3], '*', unpack(ARGV, 4))
end
return { 'accepted' }
