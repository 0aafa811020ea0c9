-- Keeps a notification of the card network until its payment is found.
--
-- keys.due     zset   notifications by the time of the next try
-- keys.since   hash   when each was first received
-- given.notification, given.nowMs
--
-- Returns 1 for a new notification, 0 for one that was waiting already; either is due at once.
redis.call('ZADD', keys.due, given.nowMs, given.notification)
return redis.call('HSETNX', keys.since, given.notification, given.nowMs)
