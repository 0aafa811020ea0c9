import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ConfigError, isGiven, readConfig, variablesKeptFrom } from '../../runtime/config.js'
import { everyProcess, type ProcessName } from '../../runtime/setting.js'
import { parseProcfile } from '../../scripts/start/procfile.js'

const SECRET = '0123456789abcdef0123456789abcdef'
const KEYS = { VAULT_PUBLIC_KEYS_FILE: 'package.json', WEBHOOK_KEYS_FILE: 'package.json' }

function problemsOf(env: NodeJS.ProcessEnv, processName?: ProcessName): readonly string[] {
  try {
    readConfig(env, processName)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

describe('the settings of a process', () => {
  it('name every process of the Procfile', () => {
    expect(parseProcfile(readFileSync('Procfile', 'utf8')).map(({ name }) => name)).to.deep.equal(everyProcess)
  })

  it('are required only from processes that use them', () => {
    const live = { SERVICE_ENV: 'live' }
    expect(problemsOf(live, 'timers')).to.deep.equal([])
    expect(problemsOf(live, 'operator')).to.deep.equal([])
    expect(problemsOf(live, 'notifications').join()).to.contain('NOTIFICATIONS_SECRET').and.not.contain('NETWORK_MER')
    expect(problemsOf(live, 'payments').join())
      .to.contain('NETWORK_MERCHANT_ID: has no default')
      .and.contain('NETWORK_MERCHANT_KEY: has no default')
      .and.contain('NETWORK_QUERY_URL: must be https')
      .and.not.contain('NOTIFICATIONS_SECRET')
  })

  it('can be bad where the process does not use them', () => {
    const env = { SERVICE_ENV: 'test', TAKEOVER_AFTER_MS: '300', PORT: 'x', ...KEYS }
    expect(problemsOf(env, 'timers')).to.deep.equal([])
    expect(problemsOf(env, 'webhooks').join()).to.contain('at least twice HEARTBEAT_MS')
  })

  it('require an archive for the process `archive`', () => {
    expect(problemsOf({ SERVICE_ENV: 'test' }, 'archive').join()).to.contain(
      'ARCHIVE_URL is not set, and `archive` needs'
    )
    expect(problemsOf({ SERVICE_ENV: 'test', ARCHIVE_URL: 'postgres://archive/test' }, 'archive')).to.deep.equal([])
  })

  it('cannot be read by any other process', () => {
    const config = readConfig({ SERVICE_ENV: 'test', NETWORK_MERCHANT_KEY: SECRET }, 'timers')
    expect(() => config.networkMerchantKey).to.throw('`timers` reads NETWORK_MERCHANT_KEY')
    expect(JSON.stringify(config)).not.to.contain(SECRET)
  })

  it('with secrets are passed by npm start to no other process', () => {
    expect(variablesKeptFrom('timers')).to.include.members(['NETWORK_MERCHANT_KEY', 'NOTIFICATIONS_SECRET_FILE'])
    expect(variablesKeptFrom('payments')).to.include('NOTIFICATIONS_SECRET').and.not.include('NETWORK_MERCHANT_KEY')
  })
})

describe('SERVICE_ENV', () => {
  it('has no default, so that live data is never opened as test', () => {
    for (const name of everyProcess) {
      expect(problemsOf({}, name)).to.include('SERVICE_ENV is not set: must be one of test, live')
    }
  })

  it('is not required by tools that look for a running npm start', () => {
    expect(problemsOf({}, 'tools')).to.deep.equal([])
  })
})

describe('the live environment', () => {
  const api = (env: NodeJS.ProcessEnv): readonly string[] => problemsOf({ SERVICE_ENV: 'live', ...KEYS, ...env }, 'api')
  const notifications = (secret: string): readonly string[] =>
    problemsOf({ SERVICE_ENV: 'live', NOTIFICATIONS_SECRET: secret }, 'notifications')

  it('requires the public https address of `tokens`', () => {
    expect(api({}).join()).to.contain('TOKENS_URL: has no default in the live environment')
    expect(api({ TOKENS_URL: 'http://tokens.example' })).to.deep.equal([
      'TOKENS_URL: must be https in the live environment'
    ])
    expect(api({ TOKENS_URL: 'https://tokens.example' })).to.deep.equal([])
  })

  it('requires a strong secret for notifications', () => {
    for (const weak of ['short', SECRET.slice(1), 'a'.repeat(64)]) {
      expect(notifications(weak).join()).to.contain('at least 32 random characters').and.not.contain(weak)
    }
    expect(notifications(SECRET)).to.deep.equal([])
  })
})

describe('an address in the settings', () => {
  it('is reported with what is expected when it is invalid', () => {
    const env = { SERVICE_ENV: 'test', VAULT_PRIVATE_KEYS_FILE: 'package.json' }
    const url = 'must be a URL such as https://host.example:8443/path'
    for (const value of ['network.example', 'ftp://network.example', 'https://']) {
      expect(problemsOf({ ...env, NETWORK_QUERY_URL: value }, 'payments')).to.deep.equal([
        `NETWORK_QUERY_URL="${value}": ${url}`
      ])
    }
    const withPassword = problemsOf({ ...env, NETWORK_QUERY_URL: 'https://user:hidden@network.example' }, 'payments')
    expect(withPassword).to.deep.equal([`NETWORK_QUERY_URL="https://…@network.example": ${url}`])
  })

  it('of a Redis is never shown, because it may hold a password', () => {
    for (const variable of ['REDIS_URL', 'SECRETS_REDIS_URL', 'REDLOCK_URLS']) {
      const env = { SERVICE_ENV: 'test', VAULT_PRIVATE_KEYS_FILE: 'package.json', [variable]: 'user:hidden@host' }
      const [problem = '', ...others] = problemsOf(env, 'payments')
      expect(others).to.deep.equal([])
      expect(problem)
        .to.match(new RegExp(`^${variable}: A Redis address must look like redis://`))
        .and.not.contain('hidden')
    }
  })
})

describe('PREAUTH_TTL_DAYS', () => {
  const read = (text: string) => readConfig({ SERVICE_ENV: 'test', PREAUTH_TTL_DAYS: text }).preauthTtlDays

  it('has the days of all brands, and of some by name', () => {
    expect(read('7, visa=5, elo=15')).to.deep.equal({ days: 7, byName: { visa: 5, elo: 15 } })
    expect(read('30')).to.deep.equal({ days: 30, byName: {} })
  })

  for (const text of ['0', '31', 'visa=5', '7,visa=0', '7,visa=31', '7,visa', '7,5', '7,visa=5.5', '100']) {
    it(`refuses ${text}`, () => {
      expect(() => read(text)).to.throw(ConfigError, /must look like 7,visa=5,elo=15, with 1 to 30 days/)
    })
  }
})

describe('WAIT_REPLICAS', () => {
  const problemsIn = (env: NodeJS.ProcessEnv): string =>
    [...problemsOf(env, 'timers'), ...problemsOf(env, 'payments')].join('\n')

  for (const url of ['redis-sentinel://127.0.0.1:26379/payments', 'redis-cluster://127.0.0.1:7000']) {
    it(`is 1 where ${url.split(':')[0]} may promote a replica, and needs a figure in live`, () => {
      expect(readConfig({ SERVICE_ENV: 'test', REDIS_URL: url }).waitReplicas).to.equal(1)
      expect(readConfig({ SERVICE_ENV: 'test', REDIS_URL: url, WAIT_REPLICAS: '0' }).waitReplicas).to.equal(0)
      expect(problemsIn({ SERVICE_ENV: 'live', REDIS_URL: url })).to.match(/^WAIT_REPLICAS is not set/m)
      expect(problemsIn({ SERVICE_ENV: 'live', REDIS_URL: url, WAIT_REPLICAS: '0' })).to.not.match(/WAIT_REPLICAS/)
    })
  }

  it('is 0 for one server', () => {
    expect(readConfig({ SERVICE_ENV: 'test', REDIS_URL: 'redis://127.0.0.1:6379' }).waitReplicas).to.equal(0)
    expect(problemsIn({ SERVICE_ENV: 'live' })).to.not.match(/WAIT_REPLICAS/)
  })
})

describe('settings from files', () => {
  let dir = ''
  let file = ''
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'settings-'))
    file = join(dir, 'value')
  })
  after(() => rmSync(dir, { recursive: true }))

  it('replace a variable, so that a password is in no environment', () => {
    writeFileSync(file, 'rediss://api:password@redis.internal:6379\n')
    expect(readConfig({ SERVICE_ENV: 'test', REDIS_URL_FILE: file }).redisUrl).to.equal(
      'rediss://api:password@redis.internal:6379'
    )
    expect(isGiven('REDIS_URL', { REDIS_URL_FILE: file })).to.equal(true)
  })

  it('yield to the variable itself', () => {
    expect(readConfig({ SERVICE_ENV: 'test', REDIS_URL: 'redis://other', REDIS_URL_FILE: file }).redisUrl).to.equal(
      'redis://other'
    )
  })

  it('with keys are required together, and only by the processes that need them', () => {
    const env = { WEBHOOK_KEYS_FILE: join(dir, 'missing'), PORT: 'x' }
    expect(() => readConfig(env, 'api'))
      .to.throw(ConfigError)
      .with.property('message')
      .that.contains('PORT="x": must be a whole number')
      .and.contains('VAULT_PUBLIC_KEYS_FILE is not set, and `api` needs it. File with the public keys')
      .and.does.not.contain('WEBHOOK_KEYS_FILE')
    expect(() => readConfig({ SERVICE_ENV: 'test', ...env }, 'webhooks')).to.throw(
      `WEBHOOK_KEYS_FILE="${env.WEBHOOK_KEYS_FILE}": the file cannot be read`
    )
    expect(() => readConfig({ SERVICE_ENV: 'test' }, 'payments')).to.throw('VAULT_PRIVATE_KEYS_FILE is not set')
    expect(() => readConfig({ SERVICE_ENV: 'test' }, 'timers')).not.to.throw()
  })

  it('with authorities must be readable, because Node itself only warns', () => {
    const env = { SERVICE_ENV: 'test', NODE_EXTRA_CA_CERTS: join(dir, 'missing.pem') }
    expect(() => readConfig(env, 'timers')).to.throw(
      `NODE_EXTRA_CA_CERTS=${env.NODE_EXTRA_CA_CERTS}: the file cannot be`
    )
  })

  it('are named when they are unreadable or invalid, without their content', () => {
    writeFileSync(file, 'a secret in the wrong place')
    const missing = join(dir, 'missing')
    expect(() => readConfig({ PORT_FILE: file, REDIS_URL_FILE: missing }))
      .to.throw(ConfigError)
      .with.property('message')
      .that.contains(`PORT_FILE="${file}": must be a whole number`)
      .and.contains(`REDIS_URL_FILE="${missing}": cannot be read`)
      .and.not.contains('secret in the wrong place')
  })
})

describe('a misspelt variable', () => {
  const problems = (env: NodeJS.ProcessEnv): string => problemsOf({ SERVICE_ENV: 'test', ...env }).join('\n')

  it('refuses what has become a part of another setting: ignored, it would change how long a hold lasts', () => {
    expect(problems({ PREAUTH_TTL_DAYS_BY_BRAND: 'visa=5' })).to.equal(
      'PREAUTH_TTL_DAYS_BY_BRAND: is part of PREAUTH_TTL_DAYS (7,visa=5) now. Unset it'
    )
    expect(problems({ NOTIFICATIONS_HOST: '0.0.0.0' })).to.contain('is part of HOST now')
  })

  for (const [given, meant] of [
    ['REDIS_URI', 'REDIS_URL'],
    ['REDISURL', 'REDIS_URL'],
    ['redis_url', 'REDIS_URL'],
    ['WAIT_REPLICA', 'WAIT_REPLICAS'],
    ['ACCEPT_EVRYSEC', 'ACCEPT_EVERYSEC'],
    ['NOTIFICATIOSN_SECRET', 'NOTIFICATIONS_SECRET'],
    ['NETWORK_TIMEOUT', 'NETWORK_TIMEOUT_MS'],
    ['PREAUTH_TTL', 'PREAUTH_TTL_DAYS'],
    ['NETWORK_MERCHANT_KEY_FIL', 'NETWORK_MERCHANT_KEY_FILE']
  ] as const) {
    it(`${given} is refused with the correct name`, () => {
      expect(problems({ [given]: 'x' })).to.equal(
        `${given}: is not known; did you mean ${meant}? Correct the name, or unset it`
      )
    })
  }

  it('ignores variables of other programs', () => {
    const others = [
      'HOME',
      'PATH',
      'HOSTNAME',
      'PWD',
      'LANG',
      'NODE_ENV',
      'NODE_OPTIONS',
      'TZ',
      'TEST_REDIS_URL',
      'APP_PORT'
    ]
    const links = { NOTIFICATION_PORT: 'tcp://10.0.0.1:3003', NETWORK_SERVICE_HOST: '10.0.0.1' }
    expect(problems({ ...Object.fromEntries(others.map(name => [name, 'x'])), ...links })).to.equal('')
  })

  it('is ignored when the variable itself is set', () => {
    expect(problems({ REDIS_URL: 'redis://127.0.0.1', REDIS_URI: 'x' })).to.equal('')
  })
})
