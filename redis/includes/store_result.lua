-- Included by the scripts that end a request: stores the result in its idempotency record, unless it has one already.
-- A record without a result begins with `[1,0,`: the result takes the place of the 0. `record`: as it is stored, or false.
--
-- Returns whether it was stored.
local function storeResult(idempotency, record, result)
  local isOpen = record and string.sub(record, 1, 5) == '[1,0,'
  if isOpen then
    redis.call('SET', idempotency, '[1,' .. result .. string.sub(record, 5), 'KEEPTTL')
  end
  return isOpen
end
