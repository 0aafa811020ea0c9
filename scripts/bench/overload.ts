/**
 * `npm run overload`: what happens beyond capacity.
 *
 * Measures the capacity of the service (closed loop), then offers multiples of it (open loop). Accepted payments per
 * second should not fall, refusals should be quick, and memory should stay bounded. Ends with an audit.
 */
import { Option } from 'commander'
import { stopOnSignals } from '../command-line/ending.js'
import { temporaryFolder } from '../command-line/temporary-folder.js'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { decimalNumber, listOf, wholeNumber } from '../command-line/values.js'
import { readFigure } from './costs.js'
import { checkLedger } from './ledger.js'
import { runClosedLoop, sendByTheClock } from './load.js'
import { quantile } from './statistics.js'
import { type ServiceSystem, startService } from './systems.js'

const KNEE_PAYMENTS = 4_000
const WARM_UP_PAYMENTS = 2_000
const KNEE_CONNECTIONS = 128
/** Enough that requests wait in the service, not in this process. */
const CONNECTIONS = 3_000
const RSS_POLL_MS = 200

interface OverloadOptions {
  readonly seconds: number
  readonly multiples: readonly number[]
  readonly maxInFlight: number
}

const command = toolCommand({
  name: 'overload',
  does: 'Measures the capacity of a service of its own on this machine, then offers multiples of it: what is accepted, what is refused, how fast, and whether memory stays bounded. Needs no `npm start`, and does not touch the data of one.',
  takes: 'half a minute, and --seconds for every multiple. Run nothing else on the machine.',
  examples: [['--seconds 10 --multiples 1,2', 'at the capacity, and at twice of it']]
})
  .option('--seconds <count>', 'how long each multiple is offered', wholeNumber(1, 3_600), 5)
  .addOption(
    new Option('--multiples <numbers>', 'multiples of the capacity, with commas between')
      .argParser(listOf(decimalNumber(0.01, 100)))
      .default([0.5, 1, 2, 3], '0.5,1,2,3')
  )
  .option('--max-in-flight <count>', 'MAX_IN_FLIGHT of the API', wholeNumber(1, 100_000), 512)
const { options } = readCommandLine<OverloadOptions>(command)
stopOnSignals()
const place = await temporaryFolder('payments-overload-')
const service = await startService(place.path, {
  env: { MAX_IN_FLIGHT: String(options.maxInFlight) },
  scale: []
})
try {
  const measure = async (total: number): Promise<number> => {
    const source = await service.prepare(total)
    return (await runClosedLoop(service.url, { total, connections: KNEE_CONNECTIONS }, source)).perSecond
  }
  await measure(WARM_UP_PAYMENTS)
  const knee = await measure(KNEE_PAYMENTS)
  print(
    `capacity (closed loop, ${KNEE_CONNECTIONS} connections): ${knee.toFixed(0)}/s; MAX_IN_FLIGHT ${options.maxInFlight}`
  )
  print('| offered/s | paid/s | refused/s | others | paid p50 / p99 ms | refused p50 / p99 ms | api RSS MiB |')
  print('|---|---|---|---|---|---|---|')
  for (const multiple of options.multiples) {
    const perSecond = Math.round(knee * multiple)
    const row = await offer(service, { perSecond, seconds: options.seconds })
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
  await place.remove()
}

interface Share {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

interface Offered {
  readonly paid: Share
  readonly refused: Share
  /** Any other status, and how often; 0 is "no answer". */
  readonly others: Readonly<Record<string, number>>
  /** The most memory that the `api` process had (RSS). */
  readonly apiMib: number
}

/** Sends `perSecond` payments for `seconds` by the clock, regardless of answers. Waits for all answers. */
async function offer(
  service: ServiceSystem,
  { perSecond, seconds }: { perSecond: number; seconds: number }
): Promise<Offered> {
  const source = await service.prepare(Math.round(perSecond * seconds))
  const times = new Map<number, number[]>()
  const note = (status: number, tookMs: number): void => {
    const list = times.get(status) ?? []
    times.set(status, list)
    list.push(tookMs)
  }
  let apiMib = 0
  const watch = setInterval(() => {
    void apiMemory(service).then(mib => {
      apiMib = Math.max(apiMib, mib)
    })
  }, RSS_POLL_MS)
  const startMs = performance.now()
  await sendByTheClock(service.url, { perSecond, seconds, connections: CONNECTIONS }, source, note)
  clearInterval(watch)
  const elapsedS = (performance.now() - startMs) / 1_000
  const shareOf = (status: number): Share => {
    const list = (times.get(status) ?? []).sort((a, b) => a - b)
    return { perSecond: list.length / elapsedS, p50Ms: quantile(list, 0.5), p99Ms: quantile(list, 0.99) }
  }
  const others = [...times].filter(([status]) => status !== 201 && status !== 503)
  return {
    paid: shareOf(201),
    refused: shareOf(503),
    others: Object.fromEntries(others.map(([status, list]) => [status, list.length])),
    apiMib
  }
}

/** In MiB; 0 while the process is too busy to answer. */
async function apiMemory(service: ServiceSystem): Promise<number> {
  const bytes = await readFigure(service.dataDir, 'api.1', 'process_resident_memory_bytes').catch(() => 0)
  return bytes / 2 ** 20
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
