/** The files of deploy/ are what the programs expect that read them. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { targetsIn } from '../../scripts/operator/processes.js'
import { findOnPath } from '../../scripts/start/apt-packages.js'
import { readUnit } from '../support/systemd-units.js'

const UNITS = readdirSync('deploy/systemd').filter(name => name.endsWith('@.service'))

/** A test that needs a program; without it the test's name says so. */
function itWith(program: string, does: string, test: () => void): void {
  if (findOnPath(program) !== undefined) it(does, test)
  else it(`NOT CHECKED, there is no ${program} on the PATH: ${does}`, () => undefined)
}

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  expect(status, stderr).to.equal(0)
  return stdout + stderr
}

describe('deploy/systemd', () => {
  let dir: string
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'units-'))
    cpSync('deploy/systemd', dir, { recursive: true })
    for (const name of UNITS) {
      const unit = readFileSync(join(dir, name), 'utf8')
      writeFileSync(join(dir, name), unit.replace('/usr/bin/node', process.execPath))
    }
  })
  after(() => rmSync(dir, { recursive: true, force: true }))

  itWith('systemd-analyze', 'has units that systemd takes without a complaint', () => {
    const instances = UNITS.map(name => join(dir, name.replace('@.', '@1.')))
    const words = run('systemd-analyze', 'verify', '--man=no', ...instances)
    expect(words.split('\n').filter(line => line.includes('card-payments'))).to.deep.equal([])
  })

  itWith('systemd-analyze', 'takes from each process what it does not need', () => {
    for (const name of UNITS) {
      const unit = join(dir, name.replace('@.', '@1.'))
      run('systemd-analyze', 'security', '--offline=yes', '--threshold=20', unit)
    }
  })

  it('has a user for each unit', () => {
    const users = [...readFileSync('deploy/systemd/card-payments.sysusers', 'utf8').matchAll(/^u (\S+)/gm)]
    const used = UNITS.map(name => /^User=(.*)$/m.exec(readFileSync(join('deploy/systemd', name), 'utf8'))?.[1])
    expect(users.map(([, user]) => user).sort()).to.deep.equal(used.sort())
  })

  it('has a target of Prometheus for each unit, at its port', () => {
    const targets = [
      ...readFileSync('deploy/prometheus.yml', 'utf8').matchAll(
        /^ +(?:# )?- 127\.0\.0\.1:(\d+)1 +# (card-payments-\w+)@1$/gm
      )
    ].map(([, port, unit]) => `${unit} ${port}`)
    const ports = UNITS.map(name => {
      const port = /OPS_PORT=(\d+)%i/.exec(readFileSync(join('deploy/systemd', name), 'utf8'))?.[1]
      return `${name.replace('@.service', '')} ${port}`
    })
    expect(targets.sort()).to.deep.equal(ports.sort())
  })

  it('has no target for the archive, which not every installation has', () => {
    expect(targetsIn('deploy/prometheus.yml').filter(url => url.includes(':907'))).to.deep.equal([])
  })
})

describe('docs/DEPLOYING.md', () => {
  const page = readFileSync('docs/DEPLOYING.md', 'utf8')

  it('names the secrets of each unit', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` +\| (`\w+`(?:, `\w+`)*) +\|$/gm)]
    const told = rows.map(([, name, files = '']) => `${name}: ${files.replaceAll('`', '')}`)
    const units = UNITS.map(file => file.replace(/^card-payments-|@\.service$/g, ''))
    const read = units.map(
      name => `${name}: ${[...readUnit('deploy/systemd', name).credentials.keys()].sort().join(', ')}`
    )
    const people = ['operator', 'doctor'].map(name => `${name}: redis_url, secrets_redis_url`)
    expect(told.map(sorted).sort()).to.deep.equal([...read, ...people].sort())
  })

  it('has steps that a shell understands', () => {
    const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, text = '']) => text)
    expect(blocks.length).to.be.greaterThan(5)
    for (const text of blocks) expect(spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' }).stderr).to.equal('')
  })

  it('names the ports of each unit', () => {
    for (const name of UNITS.map(file => file.replace(/^card-payments-|@\.service$/g, ''))) {
      const { OPS_PORT, PORT, TOKENS_PORT, NOTIFICATIONS_PORT } = readUnit('deploy/systemd', name).environment
      const port = PORT ?? TOKENS_PORT ?? NOTIFICATIONS_PORT
      expect(page).to.match(
        new RegExp(`^\\| \`${name}\` +\\| ${port === undefined ? '' : `${port},.*`} *\\| ${OPS_PORT},`, 'm')
      )
    }
  })
})

/** `name: b, a` as `name: a, b`. */
function sorted(line: string): string {
  const [name, files = ''] = line.split(': ')
  return `${name}: ${files.split(', ').sort().join(', ')}`
}

describe('deploy/compose-setup.sh', () => {
  let dir: string
  before(() => {
    // Two certificates and forty passwords, each by a process of its own.
    dir = mkdtempSync(join(tmpdir(), 'containers-'))
    const operator = join(dir, 'operator')
    writeFileSync(
      operator,
      `#!/bin/sh\nexec '${process.execPath}' '${resolve('dist/scripts/operator/operator.js')}' "$@"\n`,
      {
        mode: 0o755
      }
    )
    const env = { ...process.env, OPERATOR: operator }
    if (findOnPath('openssl') === undefined) return
    const { status, stderr } = spawnSync('sh', ['deploy/compose-setup.sh', join(dir, 'state')], {
      env,
      encoding: 'utf8'
    })
    expect(status, stderr).to.equal(0)
  })
  after(() => rmSync(dir, { recursive: true, force: true }))
  const file = (...path: string[]): string => readFileSync(join(dir, 'state', ...path), 'utf8')

  itWith('openssl', 'makes each file that compose.yaml names, for its owner alone', () => {
    const { services } = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true }) as {
      services: Readonly<Record<string, { environment?: Record<string, string>; volumes?: string[] }>>
    }
    const named = Object.values(services).flatMap(({ environment = {}, volumes = [] }) => {
      const folder = volumes.flatMap(text => /containers\/([\w-]+):/.exec(text)?.[1] ?? [])
      const files = Object.values(environment).filter(value => value.startsWith('/run/secrets/'))
      return files.map(name => join(folder[0] ?? '', name.replace('/run/secrets/', '')))
    })
    expect(named.length).to.be.greaterThan(20)
    for (const name of named) expect(statSync(join(dir, 'state', name)).mode & 0o777, name).to.equal(0o600)
  })

  itWith(
    'openssl',
    'lets the durable Redis write into its volume: a folder that the image lacks ends it at its configuration',
    () => {
      const { services } = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true })
      const [, folder = ''] = /^dir (.*)$/m.exec(file('durable', 'durable.conf')) ?? []
      expect(services.durable.volumes).to.include(`durable:${folder}`)
    }
  )

  itWith('openssl', 'keeps passwords and authority of redis-setup.sh when that is run again', () => {
    const before = file('api', 'redis_url')
    const { status, stderr } = spawnSync('sh', ['deploy/redis-setup.sh', join(dir, 'state')], { encoding: 'utf8' })
    expect(status).to.equal(1)
    expect(stderr).to.contain('exists: nothing was changed')
    expect(file('api', 'redis_url')).to.equal(before)
  })

  itWith('openssl', 'gives both Redis the users whose passwords the processes have', () => {
    for (const [server, users, address] of [
      ['durable', ['api', 'payments', 'operator'], 'redis_url'],
      ['memory-only', ['api', 'tokens'], 'secrets_redis_url']
    ] as const) {
      const rights = file(server, `${server}.acl`)
      expect(rights).not.to.contain('${')
      for (const user of users) {
        const { password, hostname } = new URL(file(user, address).trim())
        const hash = createHash('sha256').update(password).digest('hex')
        expect(rights).to.contain(`user ${user} on #${hash} `)
        expect(hostname).to.equal(server)
      }
    }
  })
})
