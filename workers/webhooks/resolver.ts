/**
 * Resolves the name in a webhook URL: every address is checked, and only checked addresses are connected to, which defeats
 * DNS rebinding.
 *
 * Asks the DNS directly, because `getaddrinfo` shares four threads between all names: a few names with silent servers would
 * delay every merchant.
 */
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP, type LookupFunction } from 'node:net'
import type { EgressPolicy } from '../../runtime/egress-policy.js'

const DNS_TIMEOUT_MS = 2_000
const DNS_TRIES = 2

/** A target that must not be called. `message` is for the merchant's operator. */
class ForbiddenTarget extends Error {
  readonly code = 'FORBIDDEN_TARGET'
}

/** All addresses of a name; rejects when it has none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Throws `ForbiddenTarget` when the policy forbids an address. */
export function assertAllowed(policy: EgressPolicy, address: string, hostname: string): void {
  const refusal = policy.refusalOf(address)
  if (refusal === null) return
  const name = hostname === address ? address : `${hostname} is ${address}, which`
  throw new ForbiddenTarget(`${name} is no public address (${refusal})`)
}

/** The `lookup` of a connection. One forbidden address among several forbids the name. */
export function checkedLookup(policy: EgressPolicy, resolve: Resolve = resolverWith('/etc/hosts')): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname)
      .then(addresses => {
        for (const address of addresses) assertAllowed(policy, address, hostname)
        const found = addresses.map(address => ({ address, family: isIP(address) }))
        const [first] = found
        if (first === undefined) throw new Error(`${hostname} has no address`)
        if (options.all) callback(null, found)
        else callback(null, first.address, first.family)
      })
      .catch((error: NodeJS.ErrnoException) => callback(error, '', 0))
  }
}

/** Asks the file of hosts first, as the system does, then the DNS. */
export function resolverWith(hostsFile: string): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
  return async hostname => {
    // RFC 6761: these names never leave the machine.
    if (/(^|\.)localhost\.?$/i.test(hostname)) return ['127.0.0.1']
    const listed = addressesIn(await readFile(hostsFile, 'utf8').catch(() => ''), hostname)
    if (listed.length > 0) return listed
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    const failure = answers.find(answer => answer.status === 'rejected')
    if (addresses.length === 0 && failure !== undefined) throw failure.reason
    return addresses
  }
}

function addressesIn(hosts: string, hostname: string): string[] {
  const wanted = hostname.toLowerCase().replace(/\.$/, '')
  return hosts.split('\n').flatMap(line => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    return isIP(address) !== 0 && names.some(name => name.toLowerCase() === wanted) ? [address] : []
  })
}
