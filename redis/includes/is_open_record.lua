-- Included by the scripts that look whether a request has its result. `record`: its idempotency record as it is stored, or false.
--
-- Returns whether there is a record without a result: it begins with `[1,0,`.
local function isOpenRecord(record)
  return record and string.sub(record, 1, 5) == '[1,0,'
end
