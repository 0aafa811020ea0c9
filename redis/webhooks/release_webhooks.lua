-- Releases parked payments of one merchant: some of them when its circuit is closed; when it is open, a probe at its
-- time, and those whose first event has waited for the whole span of the attempts.
--
-- KEYS[1] releases   zset   KEYS[2] parked payments   zset   KEYS[3] circuit   hash   KEYS[4] deliveries   stream
-- ARGV[1] merchant   ARGV[2] now, ms   ARGV[3] how many at the most   ARGV[4] how long the answer to a probe may take, ms
--
-- Returns how many commands were written.
-- include release_parked
local releases, parked, circuit, stream = unpack(KEYS)
local merchant, nowMs, max, probeMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local untilMs = tonumber(redis.call('HGET', circuit, 'until') or nil)
if not untilMs then
  return releaseParked(parked, releases, stream, merchant, max, false, nowMs + 1000)
end
local probes = 0
if untilMs <= nowMs then
  untilMs = nowMs + probeMs
  probes = releaseParked(parked, releases, stream, merchant, 1, true, untilMs)
end
local overdue = redis.call('ZCOUNT', parked, '-inf', nowMs)
local nextMs = overdue > max and nowMs or untilMs
return probes + releaseParked(parked, releases, stream, merchant, math.min(overdue, max), false, nextMs)
