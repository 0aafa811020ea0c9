-- Gives a stored card another box of the same content, unless another process was faster or the card was erased.
--
-- KEYS[1] card          hash
-- ARGV[1] old box       the one that was opened
-- ARGV[2] new box
--
-- Returns 1 if the box was replaced, else 0.

if redis.call('HGET', KEYS[1], 'box') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'box', ARGV[2])
return 1
