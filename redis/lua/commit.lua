-- Commits one decision about one payment: all of it, or nothing.
--
-- KEYS[1] payment               string    KEYS[2] due list                 zset
-- KEYS[3] attention list        hash      KEYS[4] index of status before   zset
-- KEYS[5] index of status after zset      KEYS[6] webhook endpoint         string
-- KEYS[7] outbox                stream    KEYS[8] idempotency record       string
-- KEYS[9] commands              stream    KEYS[10] payments in doubt       zset
-- KEYS[11] payments by sale     hash
-- ARGV[1] expected version      ARGV[2] payment record       ARGV[3] member (compact id)
-- ARGV[4] wake time, ms, or ''  ARGV[5] attention or ''      ARGV[6] event (JSON) or ''
-- ARGV[7] result of the command or ''
-- ARGV[8] consumer group        ARGV[9] entry id to acknowledge or ''
-- ARGV[10] reply channel or ''  ARGV[11] reply
-- ARGV[12] entry id that must still be with its worker, or ''   ARGV[13] merchant id
-- ARGV[14] since when the outcome is in doubt, ms, or ''       ARGV[15] the network's sale id or ''
--
-- Returns 1, -1 VERSION_CONFLICT, or -2 TAKEN_OVER: the entry is not with any worker any more.
local head = redis.call('GETRANGE', KEYS[1], 0, 15)
if string.match(head, '^(%d+) ') ~= ARGV[1] then
  return -1
end
if ARGV[12] ~= '' and #redis.call('XPENDING', KEYS[9], ARGV[8], ARGV[12], ARGV[12], 1) == 0 then
  return -2
end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[4] ~= '' then
  redis.call('ZADD', KEYS[2], ARGV[4], ARGV[3])
else
  redis.call('ZREM', KEYS[2], ARGV[3])
end
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[3], ARGV[3], ARGV[5])
else
  redis.call('HDEL', KEYS[3], ARGV[3])
end
if ARGV[14] ~= '' then
  redis.call('ZADD', KEYS[10], ARGV[14], ARGV[3])
else
  redis.call('ZREM', KEYS[10], ARGV[3])
end
if KEYS[4] ~= KEYS[5] then
  redis.call('ZREM', KEYS[4], ARGV[3])
  redis.call('ZADD', KEYS[5], 0, ARGV[3])
end
if ARGV[15] ~= '' then
  redis.call('HSET', KEYS[11], ARGV[15], ARGV[3])
end
if ARGV[6] ~= '' and redis.call('EXISTS', KEYS[6]) == 1 then
  redis.call('XADD', KEYS[7], '*', 'm', ARGV[13], 'p', ARGV[3], 'v', ARGV[1] + 1, 'e', ARGV[6])
end
if ARGV[7] ~= '' then
  local record = redis.call('GET', KEYS[8])
  if record and string.sub(record, 1, 1) == 'P' then
    redis.call('SET', KEYS[8], 'D' .. string.sub(record, 2) .. ' ' .. ARGV[7], 'KEEPTTL')
  end
end
if ARGV[9] ~= '' then
  redis.call('XACK', KEYS[9], ARGV[8], ARGV[9])
  redis.call('XDEL', KEYS[9], ARGV[9])
end
if ARGV[10] ~= '' then
  redis.call('PUBLISH', ARGV[10], ARGV[11])
end
return 1
