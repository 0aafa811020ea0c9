-- Brings a payment back from the archive, unless it is here already.
--
-- KEYS[1] payment              string    KEYS[2] index of its status    zset    KEYS[3] its leaf             zset
-- KEYS[4] index of references  zset      KEYS[5] its bucket             zset    KEYS[6] leaf of the bucket   zset
-- KEYS[7] payments by sale     hash      KEYS[8] payments to look at later   zset
-- ARGV[1] payment record                 ARGV[2] payment key            ARGV[3] mark of its leaf
-- ARGV[4] prefix of its reference        ARGV[5] sale id or ''          ARGV[6] most members of an index
-- ARGV[7] when it is looked at, ms       ARGV[8] the latest time for this, ms
--
-- Returns the payment record that is stored now; false when it is too late: the archive must be read again.
-- include add_to_index
local stored = redis.call('GET', KEYS[1])
if stored then
  return stored
end
if tonumber(redis.call('TIME')[1]) * 1000 > tonumber(ARGV[8]) then
  return false
end
redis.call('SET', KEYS[1], ARGV[1])
addToIndex({ KEYS[2], KEYS[3] }, ARGV[3], '', ARGV[2], ARGV[6])
addToIndex({ KEYS[4], KEYS[5], KEYS[6] }, ARGV[3], ARGV[4], ARGV[2], ARGV[6])
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[7], ARGV[5], ARGV[2])
end
redis.call('ZADD', KEYS[8], ARGV[7], ARGV[2])
return ARGV[1]
