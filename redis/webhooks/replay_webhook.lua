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
-- include reason_of
if given.listed and redis.call('ZREM', keys.undeliverable, given.listed) == 0 then
  return 0
end
local isDone, outcome = pcall(appendEvent, given.nowMs)
-- Without room, or with a key of another type: the event is not lost.
if given.listed and not (isDone and outcome) then
  redis.call('ZADD', keys.undeliverable, given.occurredMs, given.listed)
end
if not isDone then
  return redis.error_reply(reasonOf(outcome))
end
return outcome and 1 or 0
