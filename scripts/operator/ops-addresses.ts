/** Where the processes answer /readyz: `--ops` and `--targets` of the verbs that ask them. */
import type { Command } from 'commander'
import { listOf } from '../command-line/values.js'
import { OPS_FILE, readJson } from '../start/data-dir.js'
import { targetsIn } from './doctor/queries.js'

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

/** Reads an address such as those of --ops. */
export function address(text: string): string {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text))
    throw new Error(`${text} is no address such as http://10.0.0.1:9100.`)
  return text
}
