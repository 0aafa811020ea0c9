-- Takes a partition for one process: the events of a partition are delivered by one process at a time.
--
-- KEYS[1] lease   string: its holder, `<process> <number>`; each holding has a number of its own
-- ARGV[1] process   ARGV[2] number   ARGV[3] life of the lease, ms
--
-- Returns 1, or 0 when another process has it. An earlier holding of the same process is over when this one begins:
-- what it still settles is refused.
local holder = redis.call('GET', KEYS[1])
if holder and string.match(holder, '^%S+') ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
return 1
