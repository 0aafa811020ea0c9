-- Keeps a partition for its holder. One that was lost is not kept: another process may have had it meanwhile.
--
-- KEYS[1] lease   string, its holder
-- ARGV[1] holder   ARGV[2] life of the lease, ms
--
-- Returns 1, or 0 when the lease has run out or is another's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
