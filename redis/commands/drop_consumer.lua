-- Forgets a consumer that holds nothing. One that holds entries stays: forgetting it would lose them for ever.
--
-- KEYS[1] commands stream
-- ARGV[1] consumer group   ARGV[2] consumer name
--
-- Returns 1, or 0 when it has got entries in the meantime.
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) > 0 then
  return 0
end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return 1
