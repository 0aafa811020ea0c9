-- Keeps a notification of the card network until its payment is found.
--
-- KEYS[1] notifications by the time of the next try   zset   KEYS[2] when each was first received   hash
-- ARGV[1] the network's sale id                 ARGV[2] now, ms
--
-- Returns 1 for a new notification, 0 for one that was waiting already; either is due at once.
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
