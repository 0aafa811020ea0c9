/**
 * A process for tests of the supervisor: lives by the process contract (runtime/lifecycle.ts) and does nothing else.
 *
 * `node dist/test/support/tiny-process.js <name> [crash | deaf | parent]`: `crash` ends with code 3 at once, `deaf`
 * does not stop on SIGTERM, `parent` starts a child of its own that is deaf. With `PORT` (name `api`) or
 * `TOKENS_PORT` (`tokens`) it listens there and answers with its environment.
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { runProcess } from '../../runtime/lifecycle.js'
import { listen } from '../../runtime/ops-server.js'
import type { ProcessName } from '../../runtime/setting.js'

const [name, mode] = process.argv.slice(2) as [ProcessName, string?]

if (mode === 'crash') {
  process.stdout.write('about to crash\n')
  process.exit(3)
}
await runProcess(name, async ({ config, onStop }) => {
  if (mode === 'deaf') onStop('nothing', () => new Promise(() => undefined))
  if (mode === 'parent') spawn('/bin/sh', ['-c', 'trap "" TERM INT; while :; do sleep 1; done'], { stdio: 'ignore' })
  if (name !== 'api' && name !== 'tokens') return
  const port = name === 'api' ? config.port : config.tokensPort
  const server = createServer((_request, response) => response.end(JSON.stringify(process.env)))
  await listen(server, port, config.host)
  onStop('server', () => void server.close())
})
