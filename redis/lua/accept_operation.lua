-- Accepts a capture or cancel of an existing payment: idempotency record and command, all or nothing.
--
-- KEYS[1] idempotency record   string    KEYS[2] payment   string
-- KEYS[3] commands             stream
-- ARGV[1] idempotency value    ARGV[2] its life, ms   ARGV[3] merchant id
-- ARGV[4..] fields of the command entry, in pairs
--
-- Returns {'accepted', payment record}, {'earlier', payment record, idempotency value}, or {'not_found'}.
local payment = redis.call('GET', KEYS[2])
if not payment or string.match(payment, '^%d+ (%S+) ') ~= ARGV[3] then
  return { 'not_found' }
end
local earlier = redis.call('GET', KEYS[1])
if earlier then
  return { 'earlier', payment, earlier }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('XADD', KEYS[3], '*', unpack(ARGV, 4))
return { 'accepted', payment }
