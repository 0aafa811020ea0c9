/** What `operator doctor` tries from its own machine: the card network and the memory-only Redis. */
import { memoryOnlyConditions } from '../../../redis/installation/conditions.js'
import type { Installation } from '../../../redis/installation/installation.js'
import { memoryOnlyProblems } from '../../../redis/installation/memory-only.js'
import { type Config, isGiven, readConfig } from '../../../runtime/config.js'
import { probeCardNetwork } from '../../../workers/network/card-network.js'
import { checkCertificates } from './certificates.js'
import { checkLimit, checkServers, checkUsers, notRead, unreadSettings } from './durable-checks.js'
import {
  attempt,
  type Finding,
  mendOfCertificate,
  notChecked,
  problem,
  verdict,
  warning,
  withConnections
} from './finding.js'

/** The memory-only Redis and its users. `url` undefined: its address is not known. `settingsUrl`: with the user `doctor`. */
export async function checkMemoryOnly(
  url: string | undefined,
  settingsUrl: string | undefined,
  config: Config,
  installation: Installation | null
): Promise<Finding[]> {
  const check = 'memory-only redis'
  const give = 'Give SECRETS_REDIS_URL with the user `operator`; until then see /readyz of its processes.'
  if (url === undefined) return [notChecked(check, 'SECRETS_REDIS_URL is not set.', give)]
  const mend = 'Start it, correct SECRETS_REDIS_URL, or set what the sentence names, on every server (docs/REDIS.md).'
  return await attempt(
    check,
    message => mendOfCertificate(message) ?? mend,
    () =>
      withConnections('SECRETS_REDIS_URL', async connectTo => {
        const secrets = await connectTo(url)
        const settings = settingsUrl === undefined ? secrets : await connectTo(settingsUrl)
        const { problem: fault, warning: doubt } = await memoryOnlyProblems(secrets, settings, installation)
        const unread = await unreadSettings(settings, memoryOnlyConditions)
        return [
          ...verdict(
            check,
            'writes nothing to a disk, evicts nothing',
            fault !== undefined && problem(check, fault, mend),
            doubt !== undefined && warning(check, doubt, mend),
            unread.length > 0 && notRead(check, unread)
          ),
          ...(await checkUsers(secrets, 'SECRETS_REDIS_URL', config)),
          ...(await checkServers(secrets, 'SECRETS_REDIS_URL', config)),
          ...(await checkLimit(secrets, 'SECRETS_REDIS_URL', config))
        ]
      })
  )
}

/** One query to each host of the card network, which books nothing, and the certificates of both. */
export async function checkCardNetwork(env: NodeJS.ProcessEnv | undefined): Promise<Finding[]> {
  const check = 'card network'
  if (!isGiven('NETWORK_MERCHANT_KEY', env)) {
    const give = 'Give the NETWORK_ settings of `payments`; until then see its /readyz, which checks it every 30 s.'
    return [notChecked(check, 'NETWORK_MERCHANT_KEY is not set here.', give)]
  }
  const mend =
    'Call the network, repair the connection to it, or correct NETWORK_MERCHANT_ID and NETWORK_MERCHANT_KEY of `payments`.'
  return await attempt(check, mend, async () => {
    const config = readConfig(env, 'doctor')
    const [sentences, certificates] = await Promise.all([
      probeCardNetwork(config),
      checkCertificates([config.networkTransactionUrl, config.networkQueryUrl])
    ])
    const faults = sentences.map(sentence => problem(check, sentence, mend))
    return [...verdict(check, 'answers, and accepts the credentials', ...faults), ...certificates]
  })
}
