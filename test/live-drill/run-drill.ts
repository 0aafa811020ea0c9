/** The drill: an installation, its steps in their order under load, and an audit after each. */
import { delay } from '../../runtime/delay.js'
import { messageOf } from '../../runtime/message-of.js'
import { temporaryFolder } from '../../scripts/command-line/temporary-folder.js'
import { vendorDir } from '../../scripts/start/databases.js'
import { ChaosClient, type Target } from '../chaos/client.js'
import { startReceiver } from '../chaos/receiver.js'
import { createRandom } from '../simulation/random.js'
import { type Installation, install } from './installed-service.js'
import { Load, type StepAudit } from './load.js'
import { release, unpackRelease } from './release.js'
import { newestRelease, releaseBefore, unpackBefore } from './release-before.js'
import type { Drill, Step } from './step.js'
import { createKeys, vaultKeys } from './steps-keys.js'
import * as servers from './steps-servers.js'

const steps: readonly Step[] = [
  release,
  servers.firstCharge,
  servers.doctor,
  servers.ownUsers,
  servers.deadEndpoint,
  servers.durableRestart,
  vaultKeys,
  releaseBefore
]
export const stepNames = steps.map(({ name }) => name)

export interface LiveDrillOptions {
  /** The checkout. */
  readonly root: string
  /** The folder of an unpacked release, which other users can read; absent: one is made from the checkout. */
  readonly release?: string
  /** A commit whose release came before this one; absent: the newest release before this commit. */
  readonly before?: string
  /** Names of steps; they run in the order of `stepNames`. */
  readonly steps: readonly string[]
  /** New payments per second. */
  readonly rate: number
  /** Payments that are made before the durable Redis is restarted. */
  readonly payments: number
  readonly seed: number
  /** Gets all that the processes print. */
  readonly output: (text: string) => void
  /** Told after each step. */
  readonly onStep: (result: StepResult) => void
}

export interface StepResult {
  readonly name: string
  readonly state: 'ok' | 'FAILED' | 'skipped'
  readonly does: string
  readonly expects: string
  /** What was seen, or why the step was not possible. */
  readonly seen: string
  readonly payments: number
  /** What the audit found. */
  readonly findings: readonly string[]
  readonly tookMs: number
}

const NO_AUDIT: StepAudit = { payments: 0, findings: [], refused: [] }
/** Payments are sent for at least so long in each step. */
const STEP_MIN_MS = 1_000

/** Runs to the end of the last step; everything that was started is stopped, and removed. */
export async function runLiveDrill(options: LiveDrillOptions): Promise<StepResult[]> {
  let installation: Installation | undefined
  const killNow = (): void => installation?.killNow()
  // Before the folder's own listener: what is killed writes no more.
  process.once('exit', killNow)
  const place = await temporaryFolder('payments-live-')
  try {
    const unpacked = options.release ?? (await unpackRelease(options.root, place.path))
    const before = options.steps.includes(releaseBefore.name)
      ? (options.before ?? (await newestRelease(options.root)))
      : undefined
    const beforeFolder = before === undefined ? undefined : await unpackBefore(options.root, before, place.path)
    const vendor = vendorDir(options.root)
    installation = await install({ ...options, root: unpacked, vendorDir: vendor, dir: place.path })
    await installation.startProcesses()
    return await runOn(installation, beforeFolder, options)
  } finally {
    await installation?.stop()
    await place.remove()
    process.off('exit', killNow)
  }
}

async function runOn(
  installation: Installation,
  beforeFolder: string | undefined,
  options: LiveDrillOptions
): Promise<StepResult[]> {
  const random = createRandom(options.seed)
  const receiver = await startReceiver(installation.receiverTls, options.seed)
  receiver.behave()
  const urlsOf = (name: string): string[] =>
    [1, 2].map(instance => `http://127.0.0.1:${installation.portOf(`${name}.${instance}`)}`)
  const [apiUrls, tokensUrls] = [urlsOf('api'), urlsOf('tokens')]
  try {
    const merchantId = String((await installation.operator('merchant create Drill'))['merchant_id'])
    const target: Target = {
      apiUrls,
      tokensUrls,
      networkUrl: installation.simulator.url,
      ...(await createKeys(installation, merchantId))
    }
    const dice = (): number => random.next()
    const load = new Load({ target, rate: options.rate, receiver, random: dice })
    const { payments } = options
    const drill: Drill = { installation, load, receiver, target, beforeFolder, payments }
    receiver.trust(await new ChaosClient(target, dice).registerWebhook(receiver.url))
    const results: StepResult[] = []
    for (const step of steps.filter(({ name }) => options.steps.includes(name))) {
      const result = await runStep(step, drill)
      results.push(result)
      options.onStep(result)
    }
    return results
  } finally {
    await receiver.stop()
  }
}

async function runStep(step: Step, drill: Drill): Promise<StepResult> {
  const beganMs = performance.now()
  if (!step.isQuiet) drill.load.begin()
  const minimum = delay(step.isQuiet ? 0 : STEP_MIN_MS)
  const found = await step.run(drill).catch((error: unknown) => ({ isOk: false, seen: messageOf(error) }))
  if (!step.isQuiet) drill.load.begin()
  await minimum
  const audit = step.isQuiet ? NO_AUDIT : await drill.load.audit()
  const findings = [...audit.findings, ...refusedLines(audit)]
  const isOk = 'skipped' in found || found.isOk
  return {
    name: step.name,
    state: !isOk || findings.length > 0 ? 'FAILED' : 'skipped' in found ? 'skipped' : 'ok',
    does: step.does,
    expects: step.expects,
    seen: 'skipped' in found ? found.skipped : found.seen,
    payments: audit.payments,
    findings,
    tookMs: Math.round(performance.now() - beganMs)
  }
}

function refusedLines({ refused }: StepAudit): string[] {
  return refused.map(({ id, code }) => `unclear: ${id} failed (${code}), although the issuer approves that card`)
}
