/** What `operator doctor` tries from its own machine: the card network, the memory-only Redis, the receivers of webhooks. */
import { connect, isIP } from 'node:net'
import { connect as connectRedis, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { memoryOnlyConditions } from '../../../redis/installation/conditions.js'
import type { Installation } from '../../../redis/installation/installation.js'
import { memoryOnlyProblems } from '../../../redis/installation/memory-only.js'
import { MerchantStore } from '../../../redis/merchants/merchants.js'
import { createWebhookEndpointStore } from '../../../redis/webhooks/webhook-endpoints.js'
import { type Config, isGiven, readConfig } from '../../../runtime/config.js'
import { createEgressPolicy } from '../../../runtime/egress-policy.js'
import { createLogger } from '../../../runtime/log.js'
import { messageOf } from '../../../runtime/message-of.js'
import { probeCardNetwork } from '../../../workers/network/card-network.js'
import { assertAllowed, checkedLookup } from '../../../workers/webhooks/resolver.js'
import { checkCertificates } from './certificates.js'
import { checkLimit, checkServers, checkUsers, notRead, unreadSettings } from './durable-checks.js'
import {
  attempt,
  CONNECT_TIMEOUT_MS,
  connected,
  type Finding,
  mendOfCertificate,
  notChecked,
  ok,
  problem,
  verdict,
  warning
} from './finding.js'

/** Enough to see whether connections to the internet work, and no load for merchants. */
const ENDPOINTS_MAX = 20

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
  const log = createLogger('operator', 'silent')
  return await attempt(
    check,
    message => mendOfCertificate(message) ?? mend,
    async () => {
      const connections: Redis[] = []
      const connectTo = async (address: string): Promise<Redis> => {
        const connected = await connectRedis(address, 'secrets', log, 'SECRETS_REDIS_URL', CONNECT_TIMEOUT_MS)
        connections.push(connected)
        return connected
      }
      try {
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
          ...(await checkUsers(secrets, 'memoryOnly', config)),
          ...(await checkServers(secrets, 'SECRETS_REDIS_URL', config)),
          ...(await checkLimit(secrets, 'SECRETS_REDIS_URL', config))
        ]
      } finally {
        await Promise.all(connections.map(disconnect))
      }
    }
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

/** Whether receivers of webhooks can be connected to from here; nothing is sent. */
export async function checkEgress(redis: Redis, config: Config): Promise<Finding[]> {
  const check = 'webhooks'
  const mend = 'Let `webhooks` reach the internet on the ports of these addresses; run this where `webhooks` runs.'
  return await attempt(check, mend, async () => {
    const urls = await endpointUrls(redis, config)
    if (urls.length === 0) return ok(check, 'no merchant has an endpoint')
    const policy = createEgressPolicy(config.webhookAllowedNetworks)
    const tries = urls.map(async url => {
      const why = await connectionTo(url, policy).then(() => null, messageOf)
      return why === null ? [] : [`${url.host} (${why})`]
    })
    const failed = (await Promise.all(tries)).flat()
    if (failed.length === 0) return ok(check, `${urls.length} endpoints can be reached from here`)
    const found = `${failed.length} of ${urls.length} endpoints can't be reached from here: ${failed.join(', ')}.`
    if (failed.length === urls.length && urls.length > 1) return problem(check, found, mend)
    return warning(
      check,
      found,
      'Ask the merchant, and see `webhook list`. An endpoint in a network of yours needs WEBHOOK_ALLOWED_NETWORKS, in `webhooks` and for this command.'
    )
  })
}

async function endpointUrls(redis: Redis, { environment, partitions }: Config): Promise<URL[]> {
  const endpoints = createWebhookEndpointStore(unreplicated(redis), partitions)
  const merchants = await new MerchantStore(redis, environment).listMerchants()
  const places = new Map<string, URL>()
  for (const { merchantId } of merchants.filter(({ isEnabled }) => isEnabled).slice(0, 10 * ENDPOINTS_MAX)) {
    const url = (await endpoints.find(merchantId))?.url
    if (url !== undefined) places.set(new URL(url).host, new URL(url))
    if (places.size === ENDPOINTS_MAX) break
  }
  return [...places.values()]
}

async function connectionTo(url: URL, policy: ReturnType<typeof createEgressPolicy>): Promise<void> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) assertAllowed(policy, host, host)
  const socket = connect({ host, port: Number(url.port || 443), lookup: checkedLookup(policy) })
  ;(await connected(socket, 'connect')).destroy()
}
