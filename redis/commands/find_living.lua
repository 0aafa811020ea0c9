-- Names the workers with a recent heartbeat, by the clock of Redis.
--
-- keys.heartbeats   zset
-- given.silenceMs   silence that counts as death
--
-- Returns consumer names: any other consumer that holds entries is dead.
-- include now_ms
-- include living
return livingAt(nowMs(), keys.heartbeats, given.silenceMs)
