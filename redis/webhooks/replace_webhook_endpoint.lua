-- Replaces the webhook endpoint of a merchant, unless another request has replaced it since it was read, and ends an
-- operator's switch-off: who registers asks for events.
--
-- KEYS[1] webhook endpoint   string   KEYS[2] since when webhooks are switched off   string
-- ARGV[1] record as it was read, '' for none   ARGV[2] new record
--
-- Returns 1, or 0 when it was replaced in the meantime.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[2])
return 1
