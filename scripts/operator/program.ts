/**
 * The operator's command line: nouns, their verbs, exit codes.
 *
 * 0: done. 1: not done, with a sentence on standard error; or `doctor` found a problem. 2: not understood. A noun is one file
 * that exports a function which adds its verbs to the program; add it to `nouns`.
 */
import { Command, CommanderError } from 'commander'
import { isRedisUnavailable, reasonOf } from '../../redis/connection/redis-errors.js'
import { escapeControlCharacters } from '../../runtime/escape-control-characters.js'
import { version } from '../../runtime/version.js'
import { HELP_HINT, isMistake } from '../command-line/ending.js'
import { UsageError } from '../command-line/usage-error.js'
import { archiveCommand } from './archive.js'
import { auditCommand } from './audit.js'
import { clockCommand } from './clock.js'
import { deadLetterCommand } from './dead-letter.js'
import { doctorCommand } from './doctor.js'
import { installationCommand } from './installation.js'
import { keyCommand } from './key.js'
import { merchantCommand } from './merchant.js'
import { paymentCommand } from './payment.js'
import { queueCommand } from './queue.js'
import { reportCommand } from './report.js'
import { vaultCommand } from './vault.js'
import { type OperatorWorld, type VerbMaker, verbMaker } from './verb.js'
import { webhookCommand } from './webhook.js'
import { webhookKeysCommand } from './webhook-keys.js'

const nouns: readonly ((program: Command, verb: VerbMaker) => void)[] = [
  merchantCommand,
  keyCommand,
  paymentCommand,
  queueCommand,
  deadLetterCommand,
  webhookCommand,
  reportCommand,
  archiveCommand,
  clockCommand,
  vaultCommand,
  webhookKeysCommand,
  auditCommand,
  installationCommand,
  doctorCommand
]

const EXAMPLES = `
Examples:
  # the verbs of a noun, and the options of a verb
  npm run --silent operator -- payment --help
  npm run --silent operator -- payment show --help
  # every verb prints JSON with --json
  npm run --silent operator -- merchant list --json`

/** Printed under the error of a Redis that is full, read-only or silent. */
const WHAT_TO_DO =
  'The durable Redis cannot do that now: see "Redis" in docs/OPERATIONS.md. Look whether the change was made before you repeat it.\n'

/** Runs one command line, without the program's name. Resolves to the exit code; never rejects. */
export async function runOperator(args: readonly string[], world: OperatorWorld): Promise<number> {
  const program = new Command('operator')
    .description(
      'Merchants, keys, payments, queues and webhooks, for an operator. The service is the one of REDIS_URL, or the `npm start` of this DATA_DIR (.data).'
    )
    .version(version)
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError(HELP_HINT)
    .configureOutput({ writeOut: text => void world.out(text), writeErr: world.err })
    .exitOverride()
  let exitCode = 0
  const verb = verbMaker(world, () => {
    exitCode = 1
  })
  for (const addNoun of nouns) addNoun(program, verb)
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    // commander has printed its own error. After --help it throws with exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    world.err(
      isMistake(error)
        ? `${error.stack}\n`
        : escapeControlCharacters(`error: ${reasonOf(error)}\n${isRedisUnavailable(error) ? WHAT_TO_DO : ''}`)
    )
    return error instanceof UsageError ? 2 : 1
  }
}
