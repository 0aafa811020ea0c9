-- Keeps what a process saw last of each partition in the memory-only Redis, unless another one saw more.
--
-- KEYS[1] seen   hash: partition -> `<epoch> <count> <server id>`; `at` -> until when it is known, ms by the clock of the durable Redis
-- ARGV[1] until when the process watched    ARGV[2..] four for each partition: its number, epoch, count, server id
--
-- Returns all that is kept.
local seen = KEYS[1]
if tonumber(ARGV[1]) > tonumber(redis.call('HGET', seen, 'at') or 0) then
  redis.call('HSET', seen, 'at', ARGV[1])
end
for i = 2, #ARGV, 4 do
  local partition, epoch, count, server = unpack(ARGV, i, i + 3)
  local text = redis.call('HGET', seen, partition) or '0 0 '
  local knownEpoch, knownCount = string.match(text, '^(%d+) (%d+) ')
  if tonumber(epoch) > tonumber(knownEpoch) or (epoch == knownEpoch and tonumber(count) > tonumber(knownCount)) then
    redis.call('HSET', seen, partition, epoch .. ' ' .. count .. ' ' .. server)
  end
end
return redis.call('HGETALL', seen)
