-- Included by the scripts that name the workers with a heartbeat within `silenceMs`. A heartbeat from further ahead is of
-- before the clock was set back: living workers have written another one, or will.
--
-- Returns consumer names: any other consumer that holds entries is dead.
local function livingAt(timeMs, heartbeats, silenceMs)
  return redis.call('ZRANGEBYSCORE', heartbeats, '(' .. (timeMs - silenceMs), timeMs + silenceMs)
end
