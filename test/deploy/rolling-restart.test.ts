/** deploy/rolling-restart.sh with a `systemctl` that restarts nothing, and processes that are ready or not. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { expect } from 'chai'
import { freePort } from '../../scripts/start/ports.js'

const SYSTEMCTL = `#!/bin/sh
for last; do :; done
case "$1" in
restart) echo "$last" >> "$PLACE/restarted" ;;
show) case "$last" in *broken*) cat "$PLACE/503" ;; *) cat "$PLACE/200" ;; esac ;;
list-units) case "$last" in *-api@* | *-payments@*) echo "$(echo "$last" | tr '*' 1).service loaded active" ;; esac ;;
esac
`

describe('deploy/rolling-restart.sh', () => {
  const dir = mkdtempSync(join(tmpdir(), 'rolling-'))
  const processes: ChildProcess[] = []
  before(async () => {
    writeFileSync(join(dir, 'systemctl'), SYSTEMCTL, { mode: 0o755 })
    for (const status of [200, 503]) {
      const answer = `(_, response) => response.writeHead(${status}).end()`
      const code = `require('http').createServer(${answer}).listen(process.env.OPS_PORT, '127.0.0.1', () => console.log(''))`
      const child = spawn(process.execPath, ['-e', code], { env: { OPS_PORT: String(await freePort()) } })
      processes.push(child)
      writeFileSync(join(dir, String(status)), String(child.pid))
      await once(child.stdout, 'data')
    }
  })
  after(() => {
    for (const child of processes) child.kill()
    rmSync(dir, { recursive: true, force: true })
  })

  const restart = (...units: string[]): { status: number | null; stderr: string; restarted: string } => {
    rmSync(join(dir, 'restarted'), { force: true })
    const env = { PATH: `${dir}${delimiter}${process.env['PATH']}`, PLACE: dir, READY_WITHIN_S: '1' }
    const { status, stderr } = spawnSync('sh', [resolve('deploy/rolling-restart.sh'), ...units], {
      env,
      encoding: 'utf8'
    })
    return { status, stderr, restarted: readFileSync(join(dir, 'restarted'), 'utf8') }
  }

  it('restarts all that run, workers first', () => {
    const { status, stderr, restarted } = restart()
    expect(status, stderr).to.equal(0)
    expect(restarted).to.equal('card-payments-payments@1.service\ncard-payments-api@1.service\n')
  })

  it('ends at the first that is not ready', () => {
    const { status, stderr, restarted } = restart('one', 'broken', 'three')
    expect(status).to.equal(1)
    expect(stderr).to.contain('broken is not ready after 1 s')
    expect(restarted).to.equal('one\nbroken\n')
  })
})
