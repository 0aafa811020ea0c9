import { expect } from 'chai'
import { createEgressPolicy } from '../../runtime/egress-policy.js'

/** Every special-purpose network of the IANA registries, and every way to write an address of it as IPv6. */
const FORBIDDEN = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.0.171', '192.0.2.1', '192.31.196.1'],
  ...['192.52.193.1', '192.88.99.1', '192.168.0.1', '192.175.48.1', '198.18.0.1', '198.19.255.255', '198.51.100.1'],
  ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1', '100::1', '2001::1', '2001:2::1', '2001:3::1'],
  ...['2001:4:112::1', '2001:10::1', '2001:20::1', '2001:30::1', '2001:db8::1', '2002:7f00:1::', '2002:808:808::1'],
  ...['2620:4f:8000::1', '3fff::1', '4000::1', '5f00::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fec0::1', 'ff02::1'],
  ...['2600:1f18::5efe:7f00:1', '2600:1f18::200:5efe:a00:1']
]
/** Services that providers of machines have at fixed addresses, such as the metadata of a machine. */
const PROVIDERS = [
  ...['168.63.129.16', '::ffff:168.63.129.16', '169.254.169.254', '169.254.170.2', '169.254.0.23', '100.100.100.200'],
  ...['192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254', 'fe80::a9fe:a9fe']
]
const PUBLIC = ['8.8.8.8', '1.1.1.1', '100.63.255.255', '172.32.0.1', '192.0.3.1', '2606:4700::1111', '::ffff:8.8.8.8']

describe('addresses that may be called', () => {
  const policy = createEgressPolicy([])

  for (const address of [...FORBIDDEN, ...PROVIDERS]) {
    it(`${address} may not`, () => expect(policy.refusalOf(address)).to.be.a('string'))
  }
  for (const address of PUBLIC) {
    it(`${address} may`, () => expect(policy.refusalOf(address)).to.equal(null))
  }

  it('names the range of a refused address', () => {
    expect(policy.refusalOf('169.254.169.254')).to.equal('link-local')
    expect(policy.refusalOf('100.64.0.1')).to.equal('carrier-grade-nat')
  })

  it('refuses a text that is not an address', () => expect(policy.refusalOf('localhost')).to.equal('not an address'))

  it('an allowed network may, in every notation, and its neighbours may not', () => {
    const allowing = createEgressPolicy(['127.0.0.0/8', 'fd00::/8'])
    for (const address of ['127.0.0.1', '::ffff:127.9.9.9', 'fd12::1'])
      expect(allowing.refusalOf(address)).to.equal(null)
    for (const address of ['10.0.0.1', '::1', 'fc00::1']) expect(allowing.refusalOf(address)).to.be.a('string')
  })

  it('names an invalid range', () => {
    expect(() => createEgressPolicy(['10.0.0.0/8', '10.0.0.0'])).to.throw('"10.0.0.0" is not a CIDR range')
  })
})
