-- Included by the scripts that end a request: stores the result in its idempotency record, unless it has one already.
-- The result takes the place of the 0. `record`: as it is stored, or false. `isOpenRecord` comes with this.
--
-- Returns whether it was stored.
-- include is_open_record
local function storeResult(idempotency, record, result)
  local isOpen = isOpenRecord(record)
  if isOpen then
    redis.call('SET', idempotency, '[1,' .. result .. string.sub(record, 5), 'KEEPTTL')
  end
  return isOpen
end
