/**
 * `npm run overload [-- --seconds 5 --multiples 0.5,1,2,3 --max-in-flight 512]`: what happens beyond capacity.
 *
 * Finds what the service can do (closed loop), then offers multiples of it by the clock (open loop): accepted payments per
 * second should stay what they were, refusals should be quick, and memory should stay bounded. Ends with an audit.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkLedger } from './bench/ledger.js'
import { runClosedLoop } from './bench/load.js'
import { offer } from './bench/offer.js'
import { startService } from './bench/systems.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    multiples: { type: 'string', default: '0.5,1,2,3' },
    'max-in-flight': { type: 'string', default: '512' }
  }
})
const KNEE_PAYMENTS = 4_000
const WARM_UP_PAYMENTS = 2_000
const KNEE_CONNECTIONS = 128

const seconds = Number(values.seconds)
const dir = await mkdtemp(join(tmpdir(), 'payments-overload-'))
const service = await startService(dir, { env: { MAX_IN_FLIGHT: values['max-in-flight'] }, scale: [] })
try {
  const measure = async (total: number): Promise<number> => {
    const source = await service.prepare(total)
    return (await runClosedLoop(service.url, { total, connections: KNEE_CONNECTIONS }, source)).perSecond
  }
  await measure(WARM_UP_PAYMENTS)
  const knee = await measure(KNEE_PAYMENTS)
  print(
    `capacity (closed loop, ${KNEE_CONNECTIONS} connections): ${knee.toFixed(0)}/s; MAX_IN_FLIGHT ${values['max-in-flight']}`
  )
  print('| offered/s | paid/s | refused/s | others | paid p50 / p99 ms | refused p50 / p99 ms | api RSS MiB |')
  print('|---|---|---|---|---|---|---|')
  for (const multiple of values.multiples.split(',').map(Number)) {
    const perSecond = Math.round(knee * multiple)
    const row = await offer(service, { perSecond, seconds })
    const times = ({ p50Ms, p99Ms }: { p50Ms: number; p99Ms: number }): string =>
      `${p50Ms.toFixed(0)} / ${p99Ms.toFixed(0)}`
    const cells = [
      `${perSecond} (${multiple} x)`,
      row.paid.perSecond.toFixed(0),
      row.refused.perSecond.toFixed(0),
      JSON.stringify(row.others),
      times(row.paid),
      times(row.refused),
      row.apiMib.toFixed(0)
    ]
    print(`| ${cells.join(' | ')} |`)
  }
  print(await checkLedger(service))
} finally {
  await service.stop()
  await rm(dir, { recursive: true, force: true })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
