-- Gives a partition back, if it is still with the holder that says so.
--
-- KEYS[1] lease   string, its holder
-- ARGV[1] holder
--
-- Returns 1, or 0 when it was another's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
