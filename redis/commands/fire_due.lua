-- Turns what is due in one partition into commands. A due time stays in the list as a later one, for the case that the command is
-- lost: the commit of the command sets the right one.
--
-- KEYS[1] due list zset   KEYS[2] commands stream
-- ARGV[1] now, ms         ARGV[2] how many at most
-- ARGV[3] entry: a text in which the member and its due time take the places of `%s`
-- ARGV[4] when it is due again, ms
--
-- Returns the number of commands written.
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', 0, ARGV[2])
for i = 1, #due, 2 do
  redis.call('ZADD', KEYS[1], ARGV[4], due[i])
  redis.call('XADD', KEYS[2], '*', 'e', string.format(ARGV[3], due[i], due[i + 1]))
end
return #due / 2
