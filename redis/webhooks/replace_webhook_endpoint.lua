-- Replaces the webhook endpoint of a merchant, unless another request has replaced it since it was read, and ends an
-- operator's switch-off: who registers asks for events.
--
-- keys.endpoint   string   webhook endpoint
-- keys.off        string   since when webhooks are switched off
-- given.before    record as it was read; absent: there was none
-- given.after     new record
--
-- Returns 1, or 0 when it was replaced in the meantime.
if (redis.call('GET', keys.endpoint) or nil) ~= given.before then
  return 0
end
redis.call('SET', keys.endpoint, given.after)
redis.call('DEL', keys.off)
return 1
