import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { freePort } from '../../scripts/start/ports.js'
import { obtainProgram } from '../runner/debian-program.js'

describe('the number of files of HAProxy', () => {
  const dir = mkdtempSync(join(tmpdir(), 'haproxy-files-'))
  after(() => rmSync(dir, { recursive: true, force: true }))
  const [, connections = ''] = /^ +maxconn (\d+)$/m.exec(readFileSync('deploy/haproxy.cfg', 'utf8')) ?? []
  const [, limit = ''] = /^LimitNOFILE=(\d+)$/m.exec(readFileSync('deploy/systemd/haproxy-files.conf', 'utf8')) ?? []

  it('is as large with the file of deploy/systemd as HAProxy wants it for the connections of deploy/haproxy.cfg', async () => {
    const haproxy = await obtainProgram('haproxy', '.vendor', line => process.stderr.write(`${line}\n`))
    const configuration = join(dir, 'haproxy.cfg')
    const parts = ['global', `  maxconn ${connections}`, 'defaults', '  mode http', '  timeout client 1s']
    writeFileSync(configuration, [...parts, 'frontend any', `  bind 127.0.0.1:${await freePort()}`, ''].join('\n'))
    const script = 'ulimit -n 4096 && exec "$0" -db -f "$1"'
    const { stderr } = spawnSync('sh', ['-c', script, haproxy.file, configuration], {
      env: { ...process.env, ...haproxy.env },
      encoding: 'utf8',
      timeout: 120_000
    })
    const [, wanted = ''] = /raise FD limit to (\d+)/.exec(stderr) ?? []
    expect(Number(wanted), stderr).to.be.greaterThan(2 * Number(connections))
    expect(Number(limit)).to.be.at.least(Number(wanted))
  })
})
