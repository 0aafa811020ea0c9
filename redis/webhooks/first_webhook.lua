-- Reads the first event of a payment, and what decides whether it is sent.
--
-- KEYS[1] events of the payment   list     KEYS[2] tries of the first one            list   KEYS[3] webhook endpoint   string
-- KEYS[4] since when webhooks are off   string   KEYS[5] circuit of the endpoint   hash
--
-- Returns {event or nil, how many tries, endpoint or nil, 1 when webhooks are off, until when the circuit is open (ms) or
-- nil, since when all attempts at the endpoint have failed (ms) or nil}.
local events, tries, endpoint, off, circuit = unpack(KEYS)
return {
  redis.call('LINDEX', events, 0),
  redis.call('LLEN', tries),
  redis.call('GET', endpoint),
  redis.call('EXISTS', off),
  redis.call('HGET', circuit, 'until'),
  redis.call('HGET', circuit, 'since')
}
