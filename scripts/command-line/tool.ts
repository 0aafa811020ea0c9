/**
 * How every command of package.json reads its options, prints its help, and reports errors.
 *
 * Exit codes: 0: done. 1: failed, with a sentence on standard error. 2: arguments not understood. The operator's command
 * line (scripts/operator) has nouns and verbs as well, and the same exit codes.
 */
import { Command, type OptionValues } from 'commander'
import { endWithWords, HELP_HINT } from './ending.js'

const NOT_UNDERSTOOD = 2
/** npm runs these without `run`. */
const SHORT_NAMES = ['start', 'test']

/** What `--help` says besides the options. */
export interface ToolWords {
  /** As in package.json. */
  readonly name: string
  /** What it does, and what it leaves behind. */
  readonly does: string
  /** How long, or until when it runs. */
  readonly takes: string
  /** Arguments that can be pasted, each with what they are for; absent when there is nothing to choose. */
  readonly examples?: readonly (readonly [args: string, meaning: string])[]
}

/** A command without options: add them, then call `readCommandLine`. */
export function toolCommand({ name, does, takes, examples = [] }: ToolWords): Command {
  const call = SHORT_NAMES.includes(name) ? `npm ${name}` : `npm run ${name}`
  const lines = examples.map(([args, meaning]) => `  # ${meaning}\n  ${args === '' ? call : `${call} -- ${args}`}`)
  return new Command(`${call} --`)
    .description(`${does}\n\nTakes: ${takes}`)
    .helpOption('-h, --help', 'print this')
    .showHelpAfterError(HELP_HINT)
    .addHelpText('after', lines.length === 0 ? '' : `\nExamples:\n${lines.join('\n')}`)
}

/**
 * Reads the arguments of this process. Ends it after `--help` (0) and after arguments that `command` does not take (2).
 * From here on an uncaught error is printed in its own words (`complain`), and an output that is closed ends it.
 */
export function readCommandLine<Options extends OptionValues>(
  command: Command
): { readonly options: Options; readonly args: readonly string[] } {
  endWithWords()
  command
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : NOT_UNDERSTOOD))
    .parse(process.argv.slice(2), { from: 'user' })
  return { options: command.opts<Options>(), args: command.args }
}
