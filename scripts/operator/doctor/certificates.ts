/** How long the certificates of https addresses are valid. */
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { DAY_MS } from '../../../machines/durations.js'
import type { Config } from '../../../runtime/config.js'
import { parseAddress, safeAddress } from '../../../runtime/redis-address.js'
import { attempt, connected, type Finding, ok, problem, warning } from './finding.js'

/** Long enough to renew one by hand. */
const DAYS_LEFT_MIN = 21
const RENEW = 'Renew it, and restart or reload its server.'

export function certificateFinding(name: string, endsMs: number, nowMs = Date.now()): Finding {
  const check = `certificate of ${name}`
  const days = Math.floor((endsMs - nowMs) / DAY_MS)
  const found = `valid until ${new Date(endsMs).toISOString().slice(0, 10)}, ${days} days`
  if (days < 0) return problem(check, found, RENEW)
  return days < DAYS_LEFT_MIN ? warning(check, found, RENEW) : ok(check, found)
}

/** Whether what passes between the processes and a Redis can be read on the way, where payments are real. */
export function encryptionFinding(
  url: string,
  variable: string,
  { environment }: Pick<Config, 'environment'>
): Finding[] {
  const check = `TLS of ${variable}`
  if (environment === 'test') return []
  const address = parseAddress(url)
  const hosts = address.kind === 'single' ? [new URL(url).hostname] : address.nodes.map(({ host }) => host)
  if (hosts.every(host => /^(localhost|127\.[\d.]+|\[?::1\]?)$/.test(host))) return [ok(check, 'on this machine')]
  if (address.isTls) return [ok(check, 'encrypted')]
  const found = `The connection to ${safeAddress(url)} is not encrypted: passwords, payments and names of buyers pass it.`
  return [warning(check, found, `Give the server a certificate (docs/REDIS.md), and write rediss:// in ${variable}.`)]
}

/** Of each address, without any request. A certificate that this machine does not trust is a problem. */
export async function checkCertificates(urls: readonly string[]): Promise<Finding[]> {
  const places = new Set(urls.filter(url => url.startsWith('https:')).map(url => new URL(url).host))
  const mend = `${RENEW} An authority of your own: NODE_EXTRA_CA_CERTS. No connection: start the server, or repair the connection to it.`
  const found = [...places].map(place =>
    attempt(`certificate of ${place}`, mend, async () => certificateFinding(place, await certificateEndsMs(place)))
  )
  return (await Promise.all(found)).flat()
}

async function certificateEndsMs(place: string): Promise<number> {
  const { hostname, port } = new URL(`https://${place}`)
  const host = hostname.replace(/^\[|\]$/g, '')
  const servername = isIP(host) === 0 ? host : ''
  const socket = await connected(connect({ host, port: Number(port || 443), servername }), 'secureConnect')
  const endsMs = Date.parse(socket.getPeerCertificate().valid_to)
  socket.destroy()
  return endsMs
}
