/**
 * `npm run rolling-restart`: makes the running `npm start` of this `DATA_DIR` restart its processes one after the other,
 * and waits until all are new. After a build it is a deployment.
 */
import { readConfig } from '../../runtime/config.js'
import { delay } from '../../runtime/delay.js'
import { DRAIN_DELAY_MAX_MS } from '../../runtime/settings/payments-settings.js'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { findUser, OPS_FILE, readJson } from './data-dir.js'

const POLL_MS = 100
/** Without a change of any process. A stop may take the drain and 12 s, a start a few seconds more. */
const STANDSTILL_MAX_MS = DRAIN_DELAY_MAX_MS + 30_000
/** The simulator of the card network is not part of what is deployed. */
const STAYS = /^network\./

readCommandLine(
  toolCommand({
    name: 'rolling-restart',
    does: 'Makes the running `npm start` of this DATA_DIR (.data) restart its processes one after the other, and waits until all are new. After a build it is a deployment.',
    takes: 'some seconds for each process. Ctrl-C ends the waiting; `npm start` continues.'
  })
)
await rollingRestart(readConfig(undefined, 'tools').dataDir)

async function rollingRestart(dataDir: string): Promise<void> {
  const pid = await findUser(dataDir)
  if (pid === undefined)
    throw new Error(`No npm start uses ${dataDir}. Start one, or name another folder with DATA_DIR.`)
  const before = await readPlaces(dataDir)
  process.kill(pid, 'SIGUSR2')
  const waiting = new Map([...before].filter(([name]) => !STAYS.test(name)))
  let places = before
  let movedMs = Date.now()
  while (waiting.size > 0) {
    const now = await readPlaces(dataDir)
    if ([...now].some(([name, place]) => places.get(name) !== place)) movedMs = Date.now()
    places = now
    for (const [name, old] of waiting) {
      // A restarted process serves /readyz on another port.
      const place = places.get(name)
      if (place === undefined || place === old || !(await isReady(place))) continue
      waiting.delete(name)
      process.stdout.write(`${name} is new, and ready\n`)
    }
    // This restart begins after one that is running.
    if (waiting.size > 0 && Date.now() - movedMs > STANDSTILL_MAX_MS) {
      throw new Error(`${[...waiting.keys()].join(', ')}: not restarted or not ready. See the output of npm start.`)
    }
    await delay(POLL_MS)
  }
}

async function isReady(place: string): Promise<boolean> {
  return await fetch(`${place}/readyz`).then(
    answer => answer.status === 200,
    () => false
  )
}

async function readPlaces(dataDir: string): Promise<Map<string, string>> {
  return new Map(Object.entries((await readJson(dataDir, OPS_FILE)) ?? {}).map(([name, url]) => [name, String(url)]))
}
