import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { ConfigError, readConfig, variablesKeptFrom } from '../../runtime/config.js'
import { everyProcess, type ProcessName } from '../../runtime/setting.js'
import { parseProcfile } from '../../scripts/start/procfile.js'

const SECRET = '0123456789abcdef0123456789abcdef'
const KEYS = { VAULT_PUBLIC_KEYS_FILE: 'package.json', WEBHOOK_KEYS_FILE: 'package.json' }

function problemsOf(env: NodeJS.ProcessEnv, processName: ProcessName): readonly string[] {
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
