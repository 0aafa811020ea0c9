import { expect } from 'chai'
import { addressGroup } from '../../../api/tokens/address-limit.js'

describe('address limit', () => {
  const groups: [address: string, group: string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8::1]:51234', '2001:db8:0:0::/64'],
    ['[2001:db8::1]', '2001:db8:0:0::/64'],
    ['[::ffff:203.0.113.7]:51234', '203.0.113.7'],
    ['', 'unknown'],
    ['not an address', 'unknown']
  ]
  it('counts the subnets of one customer together where it asks for three groups', () => {
    for (const subnet of ['2001:db8:7:1::1', '2001:db8:7:ffff::9'])
      expect(addressGroup(subnet, 3)).to.equal('2001:db8:7::/48')
    expect(addressGroup('203.0.113.7', 3)).to.equal('203.0.113.7')
  })

  for (const [address, group] of groups) {
    it(`counts ${address || 'an empty address'} as ${group}`, () => {
      expect(addressGroup(address)).to.equal(group)
    })
  }
})
