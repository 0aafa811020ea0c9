/**
 * Which addresses the service may call on behalf of a merchant: public ones, and what the operator allows by name.
 *
 * The special-purpose networks are those of ipaddr.js, which follows the IANA registries. An address in none of its
 * ranges is public; an IPv6 address also has to be in 2000::/3. Some cloud providers serve their machines at addresses
 * that the registries call public; those are listed here and refused.
 */
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [Address, number]

export interface EgressPolicy {
  /** Null when the address may be called, else what it is, in words: `private`, `link-local`, `6to4` … */
  refusalOf(address: string): string | null
}

/**
 * - Azure, DHCP, DNS and the agent of every virtual machine: 168.63.129.16
 *   (learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16)
 *
 * The others are in the registries' ranges: 169.254.0.0/16 (AWS, Google, Azure, Oracle, DigitalOcean, Hetzner, OpenStack:
 * instance metadata at 169.254.169.254; AWS ECS at 169.254.170.2; Tencent at 169.254.0.23), 100.64.0.0/10 (Alibaba at
 * 100.100.100.200), 192.0.0.0/24 (older Oracle at 192.0.0.192), fc00::/7 (AWS at fd00:ec2::254, Google at
 * fd20:ce::254), fe80::/10 (OpenStack at fe80::a9fe:a9fe).
 */
const PROVIDER_ADDRESSES = ['168.63.129.16/32'].map(parseNetwork)

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** `allowed`: CIDR ranges such as `127.0.0.0/8`. Throws a sentence that names an invalid one. */
export function createEgressPolicy(allowed: readonly string[]): EgressPolicy {
  const networks = allowed.map(parseNetwork)
  return {
    refusalOf: text => {
      if (!ipaddr.isValid(text)) return 'not an address'
      // `process` turns an IPv4-mapped IPv6 address into the IPv4 address that it stands for.
      const address = ipaddr.process(text)
      if (networks.some(network => contains(network, address))) return null
      if (PROVIDER_ADDRESSES.some(network => contains(network, address))) return 'cloud-provider'
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
