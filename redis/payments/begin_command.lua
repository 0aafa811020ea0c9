-- Reads whether a command is still pending with a worker, before an effect that can't be undone.
-- After a failover the new master may not know of this delivery, and deliver the command again as new.
--
-- KEYS[1] commands stream
-- ARGV[1] consumer group   ARGV[2] entry id
--
-- Returns 1, or 0 when the entry is with no worker.
return #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1)
