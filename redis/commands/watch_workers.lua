-- Names the workers with a recent heartbeat, by the clock of Redis, and proves that they could write one: a server that
-- is full or read-only refuses heartbeats, and answers this script with its reason.
--
-- keys.heartbeats   zset   of workers
-- keys.watchers     zset   heartbeats of watchers
-- given.silenceMs   silence that counts as death
-- given.watcher     name of the watcher
--
-- Returns consumer names: any other consumer that holds entries is dead.
-- include now_ms
-- include living
local timeMs = nowMs()
redis.call('ZADD', keys.watchers, timeMs, given.watcher)
return livingAt(timeMs, keys.heartbeats, given.silenceMs)
