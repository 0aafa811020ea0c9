-- Puts an entry back for which its worker has sent nothing, as a new one, with its fields unchanged. What this delivery has
-- begun it takes back, so that the next worker may begin it.
--
-- KEYS[1] commands stream   KEYS[2] begun payments hash
-- ARGV[1] consumer group    ARGV[2] entry id   ARGV[3] consumer that has it
-- ARGV[4] member (payment key)   ARGV[5] name of the delivery   ARGV[6..] fields of the new entry, in pairs
--
-- Returns 1, or 0 when the entry is not with that consumer.
-- include is_with
if not isWith(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then
  return 0
end
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
if redis.call('HGET', KEYS[2], ARGV[4]) == ARGV[5] then
  redis.call('HDEL', KEYS[2], ARGV[4])
end
redis.call('XADD', KEYS[1], '*', unpack(ARGV, 6))
return 1
