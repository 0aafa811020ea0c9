-- Sends an event again, behind what else of its payment is waiting (append_event.lua).
--
-- keys.undeliverable   zset     by time of the event
--
-- given.nowMs          since when the event waits
-- given.occurredMs     when it occurred
-- given.listed         as what it is listed as undeliverable; absent: it is not
--
-- Returns 1, or 0 when it is not listed any more, or there is no room: then it stays listed.
-- include append_event
local function isListed()
  for _, listed in ipairs(redis.call('ZRANGEBYSCORE', keys.undeliverable, given.occurredMs, given.occurredMs)) do
    if listed == given.listed then
      return true
    end
  end
  return false
end
if given.listed and not isListed() then
  return 0
end
if not appendEvent(given.nowMs) then
  return 0
end
-- Last: without room, or with a key of another type, the event is not lost, nor the time until which it is kept.
if given.listed then
  redis.call('ZREM', keys.undeliverable, given.listed)
end
return 1
