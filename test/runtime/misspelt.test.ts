import { expect } from 'chai'
import { ConfigError, readConfig } from '../../runtime/config.js'

const problems = (env: NodeJS.ProcessEnv): string => {
  try {
    readConfig({ SERVICE_ENV: 'test', ...env })
    return ''
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join('\n')
    throw error
  }
}

describe('a misspelt variable', () => {
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
