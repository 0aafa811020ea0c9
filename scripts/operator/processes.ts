/** The ops servers of the processes: their addresses (`--ops`, `--targets`), and what they answer. */

import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { isRecord, parseJson } from '../../runtime/json.js'
import { messageOf } from '../../runtime/message-of.js'
import { parsedUrl } from '../../runtime/parsed-url.js'
import { listOf } from '../command-line/values.js'
import { OPS_FILE, readJson } from '../start/data-dir.js'

/** Longer than a process needs for its own checks. */
const ASK_TIMEOUT_MS = 8_000

export interface OpsOptions {
  readonly ops?: readonly string[]
  readonly targets?: string
}

export function addOpsOptions(verb: Command): Command {
  return verb
    .option(
      '--ops <urls>',
      'ops addresses of the processes, with commas between; those of `npm start` unless given',
      listOf(address)
    )
    .option(
      '--targets <file>',
      'the same: the static targets of a Prometheus configuration, such as deploy/prometheus.yml'
    )
}

/** The addresses that were given, or those that `npm start` has written into `dataDir`. */
export async function opsAddresses({ ops = [], targets }: OpsOptions, dataDir: string): Promise<readonly string[]> {
  const given = [...ops, ...(targets === undefined ? [] : targetsIn(targets))]
  return given.length > 0 ? given : Object.values((await readJson(dataDir, OPS_FILE)) ?? {}).map(String)
}

/** The addresses of the static targets of a configuration such as deploy/prometheus.yml. Throws when there is none. */
export function targetsIn(file: string): string[] {
  const lines = readFileSync(file, 'utf8').matchAll(/^\s+- ['"]?([\w.:[\]-]+:\d+)\b/gm)
  const targets = [...lines].map(([, target]) => `http://${target}`)
  if (targets.length === 0) throw new Error(`${file} has no static targets, one on a line ("- 10.0.0.1:9011").`)
  return targets
}

/** Reads an address such as those of --ops. */
export function address(text: string): string {
  if (!/^https?:\/\/./.test(text) || parsedUrl(text) === null)
    throw new Error('Give an address such as http://10.0.0.1:9100.')
  return text
}

/** One process that answered. */
export interface SeenProcess {
  /** `payments at 10.0.0.1:9100`. */
  readonly name: string
  readonly process: string
  readonly problems: Readonly<Record<string, string>>
  readonly warnings: Readonly<Record<string, string>>
  readonly facts: Readonly<Record<string, string>>
  /** The text of /metrics. */
  readonly metrics: string
}

/** An address at which no process answered. */
export interface SilentAddress {
  readonly url: string
  readonly why: string
}

/** Asks the ops servers at all addresses. */
export async function askProcesses(
  urls: readonly string[]
): Promise<{ readonly seen: readonly SeenProcess[]; readonly silent: readonly SilentAddress[] }> {
  const answers = await Promise.all(
    urls.map(url =>
      askProcess(url).catch((error: unknown) => {
        return { url, why: messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error) }
      })
    )
  )
  return {
    seen: answers.filter(answer => 'facts' in answer),
    silent: answers.filter(answer => 'why' in answer)
  }
}

async function askProcess(url: string): Promise<SeenProcess> {
  const get = (path: string): Promise<Response> =>
    fetch(new URL(path, url), { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
  const [ready, metrics] = await Promise.all([get('/readyz'), get('/metrics')])
  const body: unknown = parseJson(await ready.text())
  if (!isRecord(body) || typeof body['process'] !== 'string') throw new Error('/readyz is not that of a process')
  const textsOf = (name: string): Record<string, string> => Object(body[name])
  return {
    name: `${body['process']} at ${new URL(url).host}`,
    process: body['process'],
    problems: textsOf('problems'),
    warnings: textsOf('warnings'),
    facts: textsOf('facts'),
    metrics: await metrics.text()
  }
}
