/** One more process beside those that run, started with something that is wrong: what it makes of it. */
import { delay } from '../../runtime/delay.js'
import { parseJson } from '../../runtime/json.js'
import { bareEnvironment } from '../../scripts/start/environment.js'
import { freePort, portVariables } from '../../scripts/start/ports.js'
import { type Ending, startGroup } from '../../scripts/start/process-group.js'
import { parseProcfile } from '../../scripts/start/procfile.js'
import type { Installation } from './installed-service.js'
import type { Seen } from './step.js'

export interface Fault {
  readonly process: 'api' | 'tokens' | 'notifications' | 'payments' | 'timers' | 'webhooks'
  readonly environment?: NodeJS.ProcessEnv
  /** Loaded before the process (`node --import`). */
  readonly preload?: string
  /** What its words must name. */
  readonly names: RegExp
}

/** A process that says nothing for so long after its start takes the fault for right (ms). */
const UNNOTICED_AFTER_MS = 4_000
const START_MAX_MS = 20_000
const STOP_MAX_MS = 13_000
const POLL_MS = 50

/** Well: it ended by itself, or its /readyz has a problem or a warning, and the words name the fault. */
export async function tryOut(installation: Installation, fault: Fault): Promise<Seen> {
  const { root, settings, users, procfile } = installation
  const { process: name, environment = {}, preload, names } = fault
  const [opsPort, port] = [await freePort(), await freePort()]
  const command = parseProcfile(procfile).find(entry => entry.name === name)?.command ?? ''
  let output = ''
  let ending: Ending | undefined
  const group = await startGroup({
    script: preload === undefined ? command : command.replace(/\bnode /, `node --import '${preload}' `),
    env: {
      ...bareEnvironment(opsPort),
      [portVariables[name] ?? 'OPS_PORT']: String(portVariables[name] === undefined ? opsPort : port),
      ...settings.of(name),
      ...environment
    },
    cwd: root,
    user: users.of(name),
    onOutput: text => {
      output += text
    }
  })
  void group.ended.then(found => {
    ending = found
  })
  const killNow = (): void => void group.signal('SIGKILL')
  process.once('exit', killNow)
  try {
    let deadlineMs = performance.now() + START_MAX_MS
    let isReady = false
    while (performance.now() < deadlineMs) {
      if (ending !== undefined) return refused(ending, output, names)
      const state = await readiness(opsPort)
      if (names.test(state.words)) return { isOk: true, seen: `/readyz says: ${sentence(state.words, names)}` }
      if (state.isReady && !isReady) deadlineMs = performance.now() + UNNOTICED_AFTER_MS
      isReady ||= state.isReady
      await delay(POLL_MS)
    }
    return { isOk: false, seen: `${isReady ? 'is ready and says nothing' : 'neither ended nor became ready'}` }
  } finally {
    await group.stop(STOP_MAX_MS)
    process.off('exit', killNow)
  }
}

function refused({ code, signal }: Ending, output: string, names: RegExp): Seen {
  const how = `ended with ${signal ?? `code ${code}`}`
  const words = sentence(output, names)
  return words === ''
    ? { isOk: false, seen: `${how}, not because of this` }
    : { isOk: code !== 0, seen: `${how}: ${words}` }
}

/** What /readyz tells, but for a start that is still going on. */
async function readiness(opsPort: number): Promise<{ readonly isReady: boolean; readonly words: string }> {
  try {
    const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`, { signal: AbortSignal.timeout(8_000) })
    const { problems, warnings } = Object(parseJson(await answer.text()))
    return { isReady: answer.ok, words: Object.values({ ...problems, ...warnings }).join('\n') }
  } catch {
    return { isReady: false, words: '' }
  }
}

/** The line that names the fault; of a log line, its error. */
function sentence(text: string, names: RegExp): string {
  const line = text.split('\n').find(candidate => names.test(candidate)) ?? ''
  const logged = Object(parseJson(line)) as { err?: { message?: unknown }; msg?: unknown }
  return String(logged.err?.message ?? logged.msg ?? line).trim()
}
