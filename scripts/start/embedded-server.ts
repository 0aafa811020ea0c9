/** What the embedded database servers share: a shell that guards them, a supervisor, and the wait for the first answer. */
import { delay } from '../../runtime/delay.js'
import type { Ending, UnixUser } from './process-group.js'
import { SupervisedProcess } from './supervised-process.js'

/**
 * A database server does not watch our pipe, so a shell stands in front of it. The shell passes TERM on, and ends the
 * server when its own standard input closes, because then the supervisor is dead.
 */
export const GUARD = `
exec 3<&0
trap : TERM INT
"$@" </dev/null 3<&- & server=$!
( read -r _ <&3; kill -TERM "$server" ) & watcher=$!
exec 3<&-
wait "$server"; status=$?
while kill -0 "$server" 2>/dev/null; do wait "$server"; status=$?; done
kill "$watcher" 2>/dev/null
exit "$status"
`

const POLL_MS = 20
/** An error message may come in several lines and pieces. */
const LAST_OUTPUT_CHARACTERS = 1_000

/** A server that answers. */
export interface EmbeddedServer {
  /** With its password, where it has one. */
  readonly url: string
  readonly process: SupervisedProcess
}

/** Starts a server and waits until it answers. Rejects with its last output when it ends instead. */
export async function startServer(options: {
  /** For the error message, such as `PostgreSQL on port 5432`. */
  title: string
  name: string
  url: string
  script: string
  args: readonly string[]
  cwd: string
  user?: UnixUser | undefined
  libraryPath: string | undefined
  startWithinMs: number
  doesAnswer: () => Promise<boolean>
  /** Gets the output from the first answer on. */
  onOutput: (text: string) => void
  onEnd?: ((ending: Ending, pauseMs: number) => void) | undefined
}): Promise<EmbeddedServer> {
  const { title, name, url, script, args, cwd, user, libraryPath, doesAnswer } = options
  let lastOutput = ''
  let hasEnded = false
  let isReady = false
  const server = new SupervisedProcess({
    name,
    script,
    args,
    cwd,
    user,
    environment: async () => serverEnvironment(libraryPath),
    onOutput: text => {
      lastOutput = (lastOutput + text).slice(-LAST_OUTPUT_CHARACTERS)
      if (isReady) options.onOutput(text)
    },
    onEnd: (ending, pauseMs) => {
      hasEnded = true
      options.onEnd?.(ending, pauseMs)
    }
  })
  await server.start()
  const deadline = Date.now() + options.startWithinMs
  while (!(await doesAnswer())) {
    if (hasEnded || Date.now() > deadline) {
      await server.stop(0)
      throw new Error(`The embedded ${title} did not start: ${lastOutput.trim()}`)
    }
    await delay(POLL_MS)
  }
  isReady = true
  return { url, process: server }
}

/** The whole environment of a server: it gets nothing else of ours. */
export function serverEnvironment(libraryPath: string | undefined): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LD_LIBRARY_PATH: libraryPath }
}
