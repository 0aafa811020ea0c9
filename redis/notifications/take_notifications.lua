-- Takes the notifications that are due. Each comes up again later, in case its taker dies.
--
-- KEYS[1] notifications by the time of the next try   zset   KEYS[2] when each was first received   hash
-- ARGV[1] now, ms   ARGV[2] when they come up again, ms   ARGV[3] how many at most
--
-- Returns sale ids, each followed by the time at which it was first received.
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
local taken = {}
for i = 1, #due do
  redis.call('ZADD', KEYS[1], ARGV[2], due[i])
  taken[#taken + 1] = due[i]
  taken[#taken + 1] = redis.call('HGET', KEYS[2], due[i]) or ARGV[1]
end
return taken
