/** `doctor`: checks a whole installation; for each fault what is wrong and what to do. Changes nothing. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { findInstallation } from '../../redis/installation/installation.js'
import { type KeyKind, recordedKeys } from '../../redis/installation/key-record.js'
import { readConfig } from '../../runtime/config.js'
import { supportedNode } from '../../runtime/version.js'
import { listOf } from '../command-line/values.js'
import { addressesOf, serviceNowMs, settingsOf } from './connection.js'
import { checkArchive } from './doctor/archive-checks.js'
import { checkCertificates, encryptionFinding } from './doctor/certificates.js'
import { checkDurable, checkInstallation } from './doctor/durable-checks.js'
import { attempt, type Finding, mendOfCertificate, withConnections } from './doctor/finding.js'
import * as processes from './doctor/process-checks.js'
import { checkCardNetwork, checkMemoryOnly } from './doctor/reach-checks.js'
import { checkAttention, checkCommands, checkKeyTypes } from './doctor/work-checks.js'
import { addOpsOptions, address, askProcesses, type OpsOptions, opsAddresses, type SeenProcess } from './processes.js'
import type { Output, VerbMaker } from './verb.js'

interface DoctorOptions extends OpsOptions {
  readonly https?: readonly string[]
  readonly logins?: string
}

const EXAMPLES = `
It asks each process what /readyz says, and looks itself at what no process may see. Settings: REDIS_URL, SECRETS_REDIS_URL (user
operator), ACCEPT_EVERYSEC as for \`payments\`, ARCHIVE_URL as for \`archive\`, ARCHIVE_RETENTION_YEARS, and the NETWORK_ settings to
ask the card network. Without a setting its check is "not checked". Exit code 1: a problem.

Examples:
  # a running npm start
  npm run --silent operator -- doctor
  # after a deployment, in live
  npm run --silent operator -- doctor --ops http://10.0.0.1:9100,http://10.0.0.2:9100 --https https://api.example.com
  # also the settings of both Redis, which no user of a process may read
  npm run --silent operator -- doctor --logins /root/redis-setup/doctor
  # what is wrong, for a job
  npm run --silent operator -- doctor --json | jq '.findings[] | select(.state == "problem")'`

export function doctorCommand(program: Command, verb: VerbMaker): void {
  const doctor = verb.local<DoctorOptions>(
    program.command('doctor'),
    { does: 'Check a whole installation: what is wrong, and what to do. Changes nothing.' },
    async (options, _, env) => present(await examine(options, env))
  )
  addOpsOptions(doctor)
    .option(
      '--https <urls>',
      'public https addresses whose certificates are checked, with commas between',
      listOf(address)
    )
    .option(
      '--logins <folder>',
      'with redis_url and secrets_redis_url of the user `doctor`, who reads the settings of both Redis'
    )
    .addHelpText('after', EXAMPLES)
}

async function examine(options: DoctorOptions, env: NodeJS.ProcessEnv | undefined): Promise<Finding[]> {
  const { dataDir } = readConfig(env, 'tools')
  const places = await opsAddresses(options, dataDir)
  const { seen, silent } = await askProcesses(places)
  const reached = await Promise.all([
    examineRedis(options, seen, env),
    checkCardNetwork(env),
    checkCertificates(options.https ?? [])
  ])
  return [
    ...processes.checkVersions(seen, supportedNode),
    ...reached.flat(),
    ...processes.checkAddresses(silent),
    ...processes.checkProcesses(seen, places.length > 0, reached.flat())
  ]
}

/** The checks that need the durable Redis, and the memory-only one. */
async function examineRedis(
  { logins }: DoctorOptions,
  seen: readonly SeenProcess[],
  env: NodeJS.ProcessEnv | undefined
): Promise<Finding[]> {
  const mend = 'Start Redis, correct REDIS_URL, or load ops/redis/durable.acl of this release into it.'
  return await attempt(
    'durable redis',
    message => mendOfCertificate(message) ?? mend,
    () =>
      withConnections('REDIS_URL', async connectTo => {
        const { url, secretsUrl, archiveUrl } = await addressesOf(env)
        const redis = await connectTo(url)
        const settings = logins === undefined ? redis : await connectTo(addressIn(logins, 'redis_url'))
        const settingsUrl = logins === undefined ? undefined : addressIn(logins, 'secrets_redis_url')
        const config = readConfig(env, 'operator', settingsOf(await findInstallation(redis)))
        const { installation, findings } = await checkInstallation(redis, config)
        const serviceMs = await serviceNowMs({ redis, config })
        const [durable, attention, commands, types, memoryOnly, archive] = await Promise.all([
          checkDurable(redis, settings, config),
          checkAttention(redis, config, serviceMs),
          checkCommands(redis, config),
          checkKeyTypes(redis, config, seen),
          checkMemoryOnly(secretsUrl, settingsUrl, config, installation),
          checkArchive(config.archiveUrl || archiveUrl, redis, config, seen, serviceMs)
        ])
        const keys = await Promise.all(
          (['vault', 'webhook'] as const satisfies readonly KeyKind[]).map(kind =>
            attempt(`${kind} keys`, mend, async () => processes.checkKeys(seen, kind, await recordedKeys(redis, kind)))
          )
        )
        const same = installation === null ? [] : processes.checkSameInstallation(seen, installation.id)
        return [
          ...findings,
          ...same,
          ...processes.checkSupport(seen, config),
          ...encryptionFinding(url, 'REDIS_URL', config),
          ...(secretsUrl === undefined ? [] : encryptionFinding(secretsUrl, 'SECRETS_REDIS_URL', config)),
          ...durable,
          ...attention,
          ...commands,
          ...types,
          ...memoryOnly,
          ...keys.flat(),
          ...archive
        ]
      })
  )
}

/** A file that redis-setup.sh makes for a user. */
function addressIn(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8').trim()
}

const MARKS = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM', 'not checked': 'not checked' } as const
const MARK_WIDTH = 13

/** One line for each finding; under each fault what to do. */
function present(findings: readonly Finding[]): Output {
  const width = 2 + Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ check, state, found, mend }) => [
    `${MARKS[state].padEnd(MARK_WIDTH)}${check.padEnd(width)}${found}`,
    ...(mend === null ? [] : [`${' '.repeat(MARK_WIDTH)}-> ${mend}`])
  ])
  const count = (state: Finding['state']): number => findings.filter(finding => finding.state === state).length
  const [problems, warnings, left] = [count('problem'), count('warning'), count('not checked')]
  const sum = `${findings.length} findings: ${plural(problems, 'problem')}, ${plural(warnings, 'warning')}, ${left} not checked.`
  return {
    json: { problems, warnings, not_checked: left, findings },
    text: [...lines, '', sum].join('\n'),
    failure: problems === 0 ? undefined : `${plural(problems, 'problem')}: ${namesOf(findings).join(', ')}.`
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function namesOf(findings: readonly Finding[]): string[] {
  return [...new Set(findings.filter(({ state }) => state === 'problem').map(({ check }) => check))]
}
