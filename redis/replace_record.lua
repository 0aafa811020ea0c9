-- Replaces a record, unless another process has replaced it since it was read.
--
-- keys.record    string
-- given.before   record as it was read; absent: there was none
-- given.after    new record
--
-- Returns 1, or 0 when it was replaced in the meantime.
if (redis.call('GET', keys.record) or nil) ~= given.before then
  return 0
end
redis.call('SET', keys.record, given.after)
return 1
