-- Lets payments of the line of one endpoint go on, as it was decided (machines/webhook-delivery.ts), and writes when the line is
-- due next. If the endpoint has changed since it was read, it does nothing: the line stays due, for the next round.
--
-- keys.line        zset     payments that wait, of this endpoint
-- keys.lines       zset     endpoints by the time at which their line is due
-- keys.failing     string   the endpoint while it fails
-- keys.deliveries  stream   commands
--
-- given.merchant, given.nowMs
-- given.before    the endpoint as it was read; absent: it works
-- given.max       how many go on, of those that are due
-- given.trial     the endpoint from now on if one goes on, which is a trial
-- given.againMs   when the line is due again if so many went on; else it is with its next payment
--
-- Returns how many commands were written.
-- include fire_line
if (redis.call('GET', keys.failing) or nil) ~= given.before then
  return 0
end
local fired = fireLine(keys.line, keys.deliveries, given.nowMs, given.max, given.trial)
if given.trial and fired == 1 then
  redis.call('SET', keys.failing, given.trial)
end
local nextMs = redis.call('ZRANGE', keys.line, 0, 0, 'WITHSCORES')[2]
if fired == given.max then
  -- Also without a line: while it fails the endpoint stands in the list, which metrics read.
  nextMs = math.max(tonumber(nextMs or 0), given.againMs)
end
if nextMs then
  redis.call('ZADD', keys.lines, nextMs, given.merchant)
else
  redis.call('ZREM', keys.lines, given.merchant)
end
return fired
