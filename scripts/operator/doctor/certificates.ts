/** How long the certificates of https addresses are valid. */
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { attempt, connected, type Finding, ok, problem, warning } from './finding.js'

const DAY_MS = 86_400_000
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
