import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ConfigError, isGiven, readConfig } from '../../runtime/config.js'

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
