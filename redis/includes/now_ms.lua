-- Included by the scripts that need the time of Redis, which all processes share.
--
-- Returns ms.
local function nowMs()
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end
