/**
 * Which addresses the service may call on behalf of a merchant: public ones, and what the operator allows by name.
 *
 * The list of special-purpose networks is ipaddr.js's, which follows the IANA registries; what is in none of its ranges
 * and, for IPv6, inside the one block that is handed out to the public (2000::/3), is public.
 */
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [Address, number]

export interface NetworkPolicy {
  /** Null when the address may be called, else what it is, in words: `private`, `link-local`, `6to4` … */
  refusalOf(address: string): string | null
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** `allowed`: CIDR ranges such as `127.0.0.0/8`. Throws a sentence that names the one that is none. */
export function createNetworkPolicy(allowed: readonly string[]): NetworkPolicy {
  const networks = allowed.map(parseNetwork)
  return {
    refusalOf: text => {
      if (!ipaddr.isValid(text)) return 'not an address'
      // `process` turns an IPv4-mapped IPv6 address into the IPv4 address that it stands for.
      const address = ipaddr.process(text)
      if (networks.some(network => contains(network, address))) return null
      const range = address.range()
      // `linkLocal` is `link-local`: merchants and operators read it.
      if (range !== 'unicast') return range.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
      if (address.kind() === 'ipv4') return null
      if (!contains(GLOBAL_UNICAST, address)) return 'reserved'
      return isIsatap(address) ? 'isatap' : null
    }
  }
}

function parseNetwork(text: string): Network {
  if (!ipaddr.isValidCIDR(text)) {
    throw new RangeError(`${JSON.stringify(text)} is not a CIDR range such as 127.0.0.0/8 or fd00::/8`)
  }
  return ipaddr.parseCIDR(text)
}

function contains([network, bits]: Network, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits)
}

/** ISATAP (RFC 5214) hides an IPv4 address in the last 32 bits, behind any prefix. */
function isIsatap(address: Address): boolean {
  if (!(address instanceof ipaddr.IPv6)) return false
  const [, , , , universal = 0, mark] = address.parts
  return (universal & ~0x200) === 0 && mark === 0x5efe
}
