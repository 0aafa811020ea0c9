/** `npm run --silent operator -- <noun> <verb> [--json]`: what operators do. One file per noun in operator/. */
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { ignoreDebugSignal } from '../../runtime/debugger.js'
import { createLogger } from '../../runtime/log.js'
import { writeToStandardOutput } from '../../runtime/standard-output.js'
import { endWithWords, stopWithoutReader } from '../command-line/ending.js'
import { connectionOf } from './connection.js'
import { runOperator } from './program.js'

// Some verbs read private keys.
ignoreDebugSignal()
endWithWords()
// The reader may close the output (`| head`): what was done is done.
stopWithoutReader(() => undefined)
const isAtTerminal = process.stdin.isTTY && process.stderr.isTTY
process.exitCode = await runOperator(process.argv.slice(2), {
  connect: () => connectionOf(),
  out,
  err: text => process.stderr.write(text),
  terminal: process.stderr.isTTY ? line => process.stderr.write(`\r\x1b[K${line}`) : undefined,
  ask: isAtTerminal ? ask : undefined,
  // A person reads what the command prints; without one the lines go where the logs of the machine go.
  log: createLogger('operator', process.stderr.isTTY ? 'silent' : 'info', process.stderr)
})

function out(text: string): Promise<boolean> {
  return new Promise(resolve => writeToStandardOutput(text, error => resolve(!error)))
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  // Ctrl-D is no answer.
  const closed = once(terminal, 'close').then(() => '')
  try {
    return await Promise.race([terminal.question(question), closed])
  } finally {
    terminal.close()
  }
}
