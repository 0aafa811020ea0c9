-- Turns what is due in one partition into commands. A due time stays in the list as a later one, for the case that the command is
-- lost: the commit of the command sets the right one.
--
-- keys.list       zset     due list
-- keys.commands   stream
-- given.nowMs, given.againAtMs   now, and when it is due again; given.max how many
-- given.entry     a text in which the member and its due time take the places of `%s`
--
-- Returns the number of commands written.
local due = redis.call('ZRANGEBYSCORE', keys.list, '-inf', given.nowMs, 'WITHSCORES', 'LIMIT', 0, given.max)
for i = 1, #due, 2 do
  redis.call('ZADD', keys.list, given.againAtMs, due[i])
  redis.call('XADD', keys.commands, '*', 'e', string.format(given.entry, due[i], due[i + 1]))
end
return #due / 2
