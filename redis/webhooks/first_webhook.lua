-- Reads the first event of a payment, and what decides whether it is sent.
--
-- keys.events     list     events of the payment
-- keys.tries      list     failed attempts of the first one
-- keys.endpoint   string   webhook endpoint
-- keys.off        string   since when webhooks are off
-- keys.failing    string   the endpoint while it fails
--
-- Returns {event or nil, how many tries, endpoint or nil, 1 when webhooks are off, the failing endpoint or nil}.
return {
  redis.call('LINDEX', keys.events, 0),
  redis.call('LLEN', keys.tries),
  redis.call('GET', keys.endpoint),
  redis.call('EXISTS', keys.off),
  redis.call('GET', keys.failing)
}
