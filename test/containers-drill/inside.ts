/** The drill itself, in its namespaces: see machine.ts. Prints a line per step. Exit code 1: a step failed. */
import { appendFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../runtime/message-of.js'
import { Engine } from './engine.js'
import type { Parts } from './parts.js'
import { type Place, steps } from './steps.js'

interface Job {
  readonly parts: Parts
  readonly folder: string
  readonly logFile?: string
}

const STAND_INS = { node: ['node:24-bookworm', 'node:24-bookworm-slim'], postgres: ['postgres:15'], redis: ['redis:8'] }

process.stdin.once('close', () => process.exit(1)).resume()
const job: Job = JSON.parse(process.argv[2] ?? '{}')
const log = (text: string): void => {
  if (job.logFile !== undefined) appendFileSync(job.logFile, text)
}

const engine = await Engine.start(job.parts.engine, job.folder, log)
await makeStandIns(engine, job)
const place: Place = { engine, log, merchant: null, payment: null }
let failed = false
for (const { name, does, act } of steps) {
  const startedAt = Date.now()
  const problem = await act(place).then(
    () => null,
    (error: unknown) => messageOf(error)
  )
  failed = problem !== null
  const took = `${((Date.now() - startedAt) / 1_000).toFixed(1)} s`
  process.stdout.write(`${failed ? 'FAILED' : 'ok    '} ${name} (${took}): ${does}${failed ? `\n${problem}` : ''}\n`)
  if (failed) break
}
if (failed)
  log(await engine.docker('compose', '-f', '/place/release/deploy/compose.yaml', 'logs', '--no-color').catch(messageOf))
await engine.stop()
process.exit(failed ? 1 : 0)

async function makeStandIns(engine: Engine, { parts, folder }: Job): Promise<void> {
  await engine.importFolder(parts.debian12, 'drill-debian12')
  await engine.importFolder(parts.debian13, 'drill-debian13')
  const file = 'test/containers-drill/stand-ins.Dockerfile'
  await copyFile(join(folder, 'checkout', file), join(folder, 'stand-ins.Dockerfile'))
  for (const [target, names] of Object.entries(STAND_INS)) {
    const tags = names.flatMap(name => ['--tag', name])
    await engine.docker(
      'build',
      '--target',
      target,
      ...tags,
      '--file',
      '/place/stand-ins.Dockerfile',
      '/place/checkout/test/containers-drill'
    )
  }
}
