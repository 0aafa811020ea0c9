/** The script that rotates the password of one Redis user, on a real server with an ACL file. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { expect } from 'chai'
import { vendorDir } from '../../scripts/start/databases.js'
import { freePort } from '../../scripts/start/ports.js'
import type { ProcessGroup } from '../../scripts/start/process-group.js'
import { obtainRedis, type RedisBinary } from '../../scripts/start/redis-binary.js'
import { until } from '../support/conditions.js'
import { startRedisGroup } from '../support/redis-servers.js'

const SCRIPT = resolve('deploy/rotate-redis-password.sh')
const PASSWORDS = { api: 'first-of-api', tokens: 'first-of-tokens', administrator: 'first-of-administrator' }

describe('deploy/rotate-redis-password.sh', () => {
  let dir = ''
  let port = 0
  let binary: RedisBinary
  let server: ProcessGroup
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'rotate-'))
    binary = await obtainRedis(vendorDir(process.cwd()), line => process.stderr.write(`${line}\n`))
    port = await freePort()
    const users = Object.entries(PASSWORDS).map(([user, password]) => `user ${user} on >${password} ~* &* +@all\n`)
    writeFileSync(join(dir, 'users.acl'), ['user default off\n', ...users].join(''))
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--aclfile', join(dir, 'users.acl')]
    server = await startRedisGroup(binary, args, { cwd: dir, onOutput: () => undefined })
    await until('Redis answers', () => ask('api', PASSWORDS.api) === 'PONG')
    for (const [user, password] of Object.entries(PASSWORDS)) {
      writeFileSync(join(dir, user), `redis://${user}:${password}@127.0.0.1:${port}\n`, { mode: 0o640 })
    }
  })
  after(async () => {
    await server?.stop(2_000)
    rmSync(dir, { recursive: true, force: true })
  })

  /** Debian's package brings the client under the name of the program that is in it. */
  const environment = (): NodeJS.ProcessEnv => {
    const programs = [dirname(realpathSync(binary.file)), dirname(binary.file)].join(delimiter)
    return {
      ...process.env,
      PATH: `${programs}${delimiter}${process.env['PATH']}`,
      ...(binary.libraryPath === undefined ? {} : { LD_LIBRARY_PATH: binary.libraryPath }),
      ADMINISTRATOR_FILE: join(dir, 'administrator')
    }
  }
  function ask(user: string, password: string, ...command: string[]): string {
    const login = ['-h', '127.0.0.1', '-p', String(port), '--user', user, '--no-auth-warning']
    const env = { ...environment(), REDISCLI_AUTH: password }
    const { stdout, stderr } = spawnSync('redis-cli', [...login, ...(command.length > 0 ? command : ['PING'])], {
      env,
      encoding: 'utf8'
    })
    return (stdout + stderr).trim()
  }
  const rotate = (step: string, user = 'api') =>
    spawnSync('sh', [SCRIPT, step, user, join(dir, user), `127.0.0.1:${port}`], {
      env: environment(),
      encoding: 'utf8'
    })
  const passwordIn = (user: string): string => new URL(readFileSync(join(dir, user), 'utf8').trim()).password

  it('gives a user a second password, then ends the first; every other user keeps its own', () => {
    const { status, stderr } = rotate('add')
    expect(status, stderr).to.equal(0)
    const second = passwordIn('api')
    expect(second).to.match(/^[0-9a-f]{48}$/)
    expect(statSync(join(dir, 'api')).mode & 0o777).to.equal(0o640)
    expect([ask('api', PASSWORDS.api), ask('api', second)]).to.deep.equal(['PONG', 'PONG'])

    expect(rotate('drop').status).to.equal(0)
    expect(ask('api', second)).to.equal('PONG')
    expect(ask('api', PASSWORDS.api)).to.contain('WRONGPASS')
    expect(ask('tokens', PASSWORDS.tokens)).to.equal('PONG')
    expect(passwordIn('tokens')).to.equal(PASSWORDS.tokens)
  })

  it('is kept by the server at a restart', () => {
    expect(ask('administrator', PASSWORDS.administrator, 'ACL', 'LOAD')).to.equal('OK')
    expect(ask('api', passwordIn('api'))).to.equal('PONG')
    expect(ask('api', PASSWORDS.api)).to.contain('WRONGPASS')
  })

  it('changes nothing when the file has another password of the user, or no password', () => {
    copyFileSync(join(dir, 'tokens'), join(dir, 'kept'))
    writeFileSync(join(dir, 'tokens'), `redis://tokens:wrong@127.0.0.1:${port}\n`)
    for (const step of ['add', 'drop']) expect(rotate(step, 'tokens').status, step).not.to.equal(0)
    writeFileSync(join(dir, 'tokens'), `redis://127.0.0.1:${port}\n`)
    const { status, stderr } = rotate('drop', 'tokens')
    expect(status).to.equal(2)
    expect(stderr).to.contain('rotate it by hand')
    expect(ask('tokens', PASSWORDS.tokens)).to.equal('PONG')
    copyFileSync(join(dir, 'kept'), join(dir, 'tokens'))
  })
})
