-- Included by the scripts that put a webhook event behind those of its payment; the first one gets its command. A hundred
-- wait at the most, which bounds memory for a dead endpoint. A further one is undeliverable at once.
--
-- Returns whether it waits.
local function appendEvent(events, deliveries, undeliverable, place, sinceMs, event)
  local waiting = redis.call('RPUSH', events, sinceMs .. ' ' .. event)
  if waiting == 1 then
    redis.call('XADD', deliveries, '*', 'e', place)
  elseif waiting > 100 then
    redis.call('RPOP', events)
    local change = string.match(event, '^%S+ (.*)$')
    redis.call('ZADD', undeliverable, string.match(change, '^%S+ %S+ %S+ %S+ %S+ (%d+)'), change)
  end
  return waiting <= 100
end
