/**
 * The life of a process: configuration, start, ready, signal, stop.
 *
 * The first SIGTERM, SIGINT, SIGQUIT or SIGHUP stops everything that `onStop` registered, newest first; then the process exits 0.
 * A second signal, or `STOP_DEADLINE_MS` after the drain, ends it with code 1: no process holds state that is not stored.
 * A process that can't recover stops in the same way, with code 1, so that its supervisor starts it again.
 */
import { CannotRecover } from './cannot-recover.js'
import { type Config, ConfigError, readConfig, secretFilesOf } from './config.js'
import { ignoreDebugSignal } from './debugger.js'
import { descriptorsNeeded, descriptorsWarning } from './file-descriptors.js'
import type { Check } from './health.js'
import { createLogger, type Logger, logWhatLibrariesPrint } from './log.js'
import { startOpsServer } from './ops-server.js'
import { openFilesWarning } from './secret-files.js'
import type { ProcessName } from './setting.js'
import { drainMsOf, EXIT_CONFIG, STOP_DEADLINE_MS } from './shutdown.js'
import { nodeWarning } from './version.js'

/** What an entry file gets. */
export interface ProcessContext {
  readonly config: Config
  readonly log: Logger
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal
  /** Registers what must be stopped. Called in reverse order, one after the other. */
  onStop(name: string, stop: () => Promise<void> | void): void
  /** Adds a check whose sentence is a problem: /readyz answers 503 while there is one. */
  onReadyCheck(part: string, check: Check): void
  /** Adds a check whose sentence is a warning: the process works, and an operator must act. */
  onWarning(part: string, check: Check): void
  /** Adds a fact to /readyz for `operator doctor`, such as the id of the current key. No secrets. */
  onFact(name: string, read: () => string): void
}

/** Runs one process of the Procfile until a signal stops it. Never returns an error: it logs and exits. */
export async function runProcess(name: ProcessName, start: (context: ProcessContext) => Promise<void>): Promise<void> {
  ignoreDebugSignal()
  const config = configOrExit(name)
  const log = createLogger(name, config.logLevel)
  logWhatLibrariesPrint(log)
  const stopping = new AbortController()
  const stops: Stop[] = []
  const conditions = { problems: new Map<string, Check>(), warnings: new Map<string, Check>() }
  const facts = new Map<string, () => string>()
  const secretFiles = secretFilesOf(name)
  conditions.warnings.set('secret files', () => openFilesWarning(secretFiles))
  conditions.warnings.set('open files', () => descriptorsWarning(descriptorsNeeded(name, config)))
  conditions.warnings.set('version of Node', () => nodeWarning())

  const stopAll = async (reason: string, cause?: CannotRecover): Promise<void> => {
    if (stopping.signal.aborted) {
      if (cause !== undefined) return
      log.warn({ reason }, 'second signal, leaving at once')
      process.exit(1)
    }
    log.info({ reason }, 'stopping')
    stopping.abort(cause)
    const deadlineMs = STOP_DEADLINE_MS + drainMsOf(name, config)
    setTimeout(() => {
      log.error({ deadline_ms: deadlineMs }, 'stop took too long, leaving')
      process.exit(1)
    }, deadlineMs).unref()
    const isClean = await stopEach(stops.reverse(), log)
    log.info('stopped')
    process.exit(isClean && cause === undefined ? 0 : 1)
  }

  listenForEnds(config, log, stopAll)
  try {
    const ops = await startOpsServer({
      name,
      config,
      log,
      conditions,
      facts,
      isStopping: () => stopping.signal.aborted,
      unrecoverable: () => reasonToStop(stopping.signal)
    })
    stops.push({ name: 'ops server', stop: ops.stop })
    if (config.otlpEndpoint !== '') {
      const { exportTraces } = await import('./trace-export.js')
      stops.push({ name: 'traces', stop: exportTraces(name, config, log).stop })
    }
    await start({
      config,
      log,
      signal: stopping.signal,
      onStop: (part, stop) => stops.push({ name: part, stop }),
      onReadyCheck: (part, check) => conditions.problems.set(part, check),
      onWarning: (part, check) => conditions.warnings.set(part, check),
      onFact: (fact, read) => facts.set(fact, read)
    })
    ops.started()
    log.info('started')
  } catch (error) {
    exitForConfig(error, log)
    log.fatal({ err: error }, 'could not start')
    process.exit(1)
  }
}

interface Stop {
  readonly name: string
  readonly stop: () => Promise<void> | void
}

/** Whether all parts stopped cleanly. */
async function stopEach(stops: readonly Stop[], log: Logger): Promise<boolean> {
  let isClean = true
  for (const { name: part, stop } of stops) {
    try {
      await stop()
    } catch (error) {
      log.error({ err: error, part }, 'a part did not stop cleanly')
      isClean = false
    }
  }
  return isClean
}

/** Why the process can't recover; undefined when it stops for another reason, or not at all. */
function reasonToStop({ reason }: AbortSignal): string | undefined {
  return reason instanceof CannotRecover ? reason.message : undefined
}

/** Signals, the death of the supervisor, and uncaught errors. */
function listenForEnds(
  config: Config,
  log: Logger,
  stopAll: (reason: string, cause?: CannotRecover) => Promise<void>
): void {
  let isSignalled = false
  // Without a listener it ends a process at once, with what it has in its hands.
  process.on('SIGUSR2', () => undefined)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) {
    process.on(signal, () => {
      // A terminal that closes, and systemd with SendSIGHUP, send this one beside another: it is no second signal.
      if (signal === 'SIGHUP' && isSignalled) return
      isSignalled = true
      void stopAll(signal)
    })
  }
  if (config.supervised === 'yes') {
    // A killed supervisor can't send a signal, but its end of the pipe closes.
    process.stdin.on('error', () => undefined).once('close', () => void stopAll('the supervisor is dead'))
    process.stdin.resume()
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      if (error instanceof CannotRecover) {
        log.fatal({ err: error }, 'the process cannot recover and stops, to be started again')
        return void stopAll('cannot recover', error)
      }
      log.fatal({ err: error }, 'unexpected error, the process exits')
      process.exit(1)
    })
  }
}

function configOrExit(processName: ProcessName): Config {
  try {
    return readConfig(undefined, processName)
  } catch (error) {
    exitForConfig(error, createLogger(processName, 'fatal'))
    throw error
  }
}

function exitForConfig(error: unknown, log: Logger): void {
  if (!(error instanceof ConfigError)) return
  log.fatal({ problems: error.problems }, 'the configuration is wrong, nothing was started')
  process.exit(EXIT_CONFIG)
}
