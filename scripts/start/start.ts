/**
 * `npm start`: runs the Procfile with everything it needs, until SIGINT or SIGTERM.
 *
 * SIGINT, SIGTERM and SIGHUP stop all in order within 15 s; a second one kills at once. The death of npm and a closed
 * output have the same effect.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isGiven } from '../../runtime/config.js'
import { messageOf } from '../../runtime/message-of.js'
import { LastingOutput, writeToStandardOutput } from '../../runtime/standard-output.js'
import { complain, SECOND_SIGNAL_AFTER_MS, stopWithoutReader } from '../command-line/ending.js'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { UsageError } from '../command-line/usage-error.js'
import { banner } from './banner.js'
import { prepareFor, readDemo } from './demo.js'
import { Service } from './service.js'

const PARENT_POLL_MS = 200

const root = resolve(import.meta.dirname, '../../..')
process.chdir(root)

const command = toolCommand({
  name: 'start',
  does: 'Installs, builds, gets a Redis, and starts every process of the Procfile. Prints the addresses, the keys of a demo merchant and a curl. Ports, the data directory (.data) and all else come from the environment: docs/RUNNING.md, docs/CONFIGURATION.md.',
  takes: 'until Ctrl-C; the first start about a minute, later ones a few seconds.',
  examples: [
    ['', 'one of each process'],
    ['payments=4 webhooks=2', 'more of some']
  ]
})
  .argument('[process=count...]', 'how many of a process run, such as payments=4; one when it is not named')
  .option('--procfile <file>', 'the processes and their commands', 'Procfile')
const { options, args } = readCommandLine<{ procfile: string }>(command)

const isTerminal = process.stdout.isTTY === true
const env = {
  // On a terminal the requests are shown.
  ...(isTerminal ? { REQUEST_LOG_LEVEL: 'info' } : {}),
  ...process.env,
  // Without `npm start` a process needs an explicit SERVICE_ENV.
  ...(isGiven('SERVICE_ENV') ? {} : { SERVICE_ENV: 'test' })
}
const output = { isColoured: isTerminal && !process.env['NO_COLOR'], isReadable: isTerminal }
const lasting = new LastingOutput(({ lines, reason }) => write(`${lines} lines of this output were lost: ${reason}\n`))
let isStarted = false
/** What runs goes on without its output. A start does not: npm ends, too, when it can't print. */
const write = (text: string): void => (isStarted ? lasting.write(text) : writeToStandardOutput(text))

try {
  const service = new Service({
    root,
    procfile: await readProcfile(options.procfile),
    scale: args,
    env,
    output,
    write,
    prepare: prepareFor(env)
  })
  stopServiceOnSignals(service)
  const { ports, dataDir } = await service.start()
  write(banner({ ports, dataDir, demo: await readDemo(dataDir) }))
  isStarted = true
} catch (error) {
  const exitCode = complain(error)
  process.exit(process.exitCode ?? exitCode)
}

async function readProcfile(file: string): Promise<string> {
  return await readFile(resolve(root, file), 'utf8').catch((error: unknown) => {
    throw new UsageError(`The Procfile ${file} cannot be read: ${messageOf(error)}`)
  })
}

function stopServiceOnSignals(service: Service): void {
  let stoppingSinceMs: number | undefined
  const stop = async (reason: string, exitCode: number): Promise<void> => {
    if (stoppingSinceMs !== undefined) return
    stoppingSinceMs = Date.now()
    process.exitCode = exitCode
    write(`\n${reason}: stopping ...\n`)
    await service.stop()
    write('Stopped.\n')
    process.exit(exitCode)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stoppingSinceMs !== undefined && Date.now() - stoppingSinceMs > SECOND_SIGNAL_AFTER_MS) process.exit(1)
      void stop(signal, 0)
    })
  }
  // No child outlives this process.
  process.on('exit', () => service.killAll())
  stopWithoutReader(() => void stop('output closed', 1))
  stopWithNpm(reason => void stop(reason, 1))
}

/**
 * A killed npm can't pass a signal on, but this process then has another parent. For this the script in package.json
 * begins with `exec`: otherwise the parent would be a shell, which stays.
 */
function stopWithNpm(stop: (reason: string) => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) stop('npm is dead')
  }, PARENT_POLL_MS).unref()
}
