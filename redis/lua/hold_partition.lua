-- Takes a partition for one process, or keeps it: the events of a partition are delivered by one process at a time.
--
-- KEYS[1] lease   string, the owner
-- ARGV[1] owner   ARGV[2] life of the lease, ms
--
-- Returns 1, or 0 when another process has it.
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
