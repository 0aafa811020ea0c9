/** `npm run --silent operator -- <noun> <verb> [--json]`: what operators do. One file per noun in operator/. */
import { connectionOf } from './connection.js'
import { runOperator } from './program.js'

// The reader may close it (`| head`): what was done is done.
process.stdout.on('error', () => undefined)
process.exitCode = await runOperator(process.argv.slice(2), {
  connect: () => connectionOf(),
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text)
})
