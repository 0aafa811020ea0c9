-- Forgets a consumer that holds nothing. One that holds entries stays: forgetting it would lose them for ever.
--
-- keys.stream      stream   commands
-- given.group      consumer group
-- given.consumer   its name
--
-- Returns 1, or 0 when it has got entries in the meantime.
if #redis.call('XPENDING', keys.stream, given.group, '-', '+', 1, given.consumer) > 0 then
  return 0
end
redis.call('XGROUP', 'DELCONSUMER', keys.stream, given.group, given.consumer)
return 1
