-- Puts a dead letter back into its command stream.
--
-- KEYS[1] dead letters stream   KEYS[2] commands stream
-- ARGV[1] id of the letter      ARGV[2..] fields of the command entry, in pairs
--
-- Returns 1, or 0 when there is no such letter.
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 2))
return 1
