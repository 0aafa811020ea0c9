-- Included by the scripts that compare the version of a payment: the second element of its record.
--
-- Returns the version as a text; nil when the payment is not here.
local function versionOf(payment)
  return string.match(redis.call('GETRANGE', payment, 0, 23), '^%[%d+,(%d+),')
end
