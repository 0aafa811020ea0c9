-- Included by the scripts that turn parked payments of a merchant into commands, those first that have waited longest.
-- For what stays parked `timers` looks again at nextMs.
--
-- A probe is the entry with one element more: the number of its kind.
--
-- Returns how many commands were written.
local function releaseParked(parked, releases, stream, merchant, count, isProbe, nextMs)
  local released = count > 0 and redis.call('ZRANGE', parked, 0, count - 1) or {}
  for _, payment in ipairs(released) do
    redis.call('ZREM', parked, payment)
    redis.call('XADD', stream, '*', 'e', isProbe and string.sub(payment, 1, -2) .. ',1]' or payment)
  end
  if redis.call('EXISTS', parked) == 1 then
    redis.call('ZADD', releases, nextMs, merchant)
  else
    redis.call('ZREM', releases, merchant)
  end
  return #released
end
