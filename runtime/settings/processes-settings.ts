/** Settings that every process shares: environment, addresses, how it is run. */
import { anyText, everyProcess, httpUrl, integer, oneOf, undocumented } from '../setting.js'

export const processSettings = {
  environment: oneOf(
    'SERVICE_ENV',
    [...everyProcess, 'operator', 'doctor'],
    ['test', 'live'],
    '',
    'Required. Decides which API keys are accepted (`svc_test` or `svc_live`). `test`: published test cards only, the simulator of the card ' +
      'network, a clock that can be moved. `live`: the credentials and https addresses of a card network must be set, and `api`, ' +
      '`payments` and `notifications` start on a durable Redis only.'
  ),
  logLevel: oneOf(
    'LOG_LEVEL',
    everyProcess,
    ['silent', 'error', 'warn', 'info', 'debug'],
    'info',
    'Least severe level that is logged.'
  ),
  requestLogLevel: oneOf(
    'REQUEST_LOG_LEVEL',
    ['api', 'tokens'],
    ['debug', 'info'],
    'debug',
    'Level of the log line of each answered request. `npm start` on a terminal uses `info`.'
  ),
  dataDir: anyText(
    'DATA_DIR',
    [...everyProcess, 'operator', 'tools'],
    '.data',
    'Folder of `npm start` for its data. In each installation `api` and `payments` keep below it what they have seen last (`seen`).'
  ),
  host: anyText(
    'HOST',
    ['api', 'tokens', 'notifications', 'network'],
    '127.0.0.1',
    'Address on which the process listens. Under `npm start` the simulator stays on 127.0.0.1: its control routes have no password.'
  ),
  port: integer('PORT', ['api'], 3000, [0, 65_535], 'Port of the merchant API. 0 takes a free one.'),
  tokensPort: integer(
    'TOKENS_PORT',
    ['tokens'],
    3001,
    [0, 65_535],
    'Port of the browser side (one-use tokens). 0 takes a free one.'
  ),
  tokensUrl: httpUrl(
    'TOKENS_URL',
    ['api'],
    'http://localhost:3001',
    'Public address of `tokens`, for /v1/capabilities. Live: https.'
  ),
  trustedProxies: integer(
    'TRUSTED_PROXIES',
    ['tokens'],
    0,
    [0, 10],
    'Proxies in front of `tokens` that add to X-Forwarded-For. 0: the client is the peer of the connection.'
  ),
  networkPort: integer(
    'NETWORK_PORT',
    ['network'],
    3002,
    [0, 65_535],
    'Port of the card-network simulator (test environment).'
  ),
  opsHost: anyText('OPS_HOST', everyProcess, '127.0.0.1', 'Address of the ops server (/healthz, /readyz, /metrics).'),
  opsPort: integer(
    'OPS_PORT',
    everyProcess,
    0,
    [0, 65_535],
    'Port of the ops server. 0 takes a free one; the log line `ops server listening` names it.'
  ),
  supervised: undocumented(
    oneOf(
      'SUPERVISED',
      everyProcess,
      ['no', 'yes'],
      'no',
      'Set by `npm start`: the process stops when its standard input closes, because its supervisor is dead.'
    )
  )
} as const
