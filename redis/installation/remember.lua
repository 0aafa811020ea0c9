-- Keeps what a process saw last of each partition in the memory-only Redis, unless another one saw more.
--
-- KEYS[1] seen   hash: partition -> `[<format>,<epoch>,<count>,"<server id>"]`; `at` -> until when it is known, ms by the clock of the durable Redis
-- ARGV[1] until when the process watched    ARGV[2..] two for each partition: its number, and what it saw
--
-- Returns all that is kept.
local seen = KEYS[1]

-- What can't be read is replaced.
local function pairOf(text)
  local isRead, list = pcall(cjson.decode, text or '[]')
  if not isRead or type(list) ~= 'table' then return 0, 0 end
  return tonumber(list[2] or 0) or 0, tonumber(list[3] or 0) or 0
end

local fields = { 'at' }
for i = 2, #ARGV, 2 do
  fields[#fields + 1] = ARGV[i]
end
local kept = redis.call('HMGET', seen, unpack(fields))
local newer = {}
if tonumber(ARGV[1]) > (tonumber(kept[1] or 0) or 0) then newer = { 'at', ARGV[1] } end
for i = 2, #ARGV, 2 do
  local epoch, count = pairOf(ARGV[i + 1])
  local knownEpoch, knownCount = pairOf(kept[i / 2 + 1])
  if epoch > knownEpoch or (epoch == knownEpoch and count > knownCount) then
    newer[#newer + 1] = ARGV[i]
    newer[#newer + 1] = ARGV[i + 1]
  end
end
if #newer > 0 then redis.call('HSET', seen, unpack(newer)) end
return redis.call('HGETALL', seen)
