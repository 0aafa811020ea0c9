import { expect } from 'chai'
import { parseAddress, safeAddress } from '../../runtime/redis-address.js'

describe('addresses of the durable Redis', () => {
  it('keep the URL of one server, with login and TLS', () => {
    expect(parseAddress('rediss://u:p%40ss@host:1/2')).to.deep.equal({
      kind: 'single',
      url: 'rediss://u:p%40ss@host:1/2',
      login: { username: 'u', password: 'p@ss' },
      isTls: true
    })
  })

  it('name the nodes of a Cluster, with login and TLS', () => {
    expect(parseAddress('rediss-cluster://api:p%40ss@a:7000,[::1]:7001')).to.deep.equal({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7000 },
        { host: '::1', port: 7001 }
      ],
      login: { username: 'api', password: 'p@ss' },
      isTls: true
    })
    expect(parseAddress('redis-cluster://:secret@a:7000')).to.deep.include({ login: { password: 'secret' } })
  })

  it('name Sentinels, the master, and the login of either', () => {
    expect(parseAddress('redis-sentinel://:p@a:1,b:2/payments/3?sentinelPassword=q')).to.deep.equal({
      kind: 'sentinel',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 }
      ],
      name: 'payments',
      db: 3,
      login: { password: 'p' },
      sentinelLogin: { password: 'q' },
      isTls: false
    })
  })

  it('report errors without the password', () => {
    expect(() => parseAddress('redis-cluster://u:hidden@a')).to.throw(/must look like redis-cluster:/)
    expect(() => parseAddress('redis-cluster://u:hidden@a')).not.to.throw(/hidden/)
    expect(() => parseAddress('redis-sentinel://a:1')).to.throw(/name of the master/)
    for (const url of [
      'nonsense',
      '6379',
      'redis:',
      'redis://',
      'redis://u:hidden@',
      'http://host:1',
      'redis://host:none'
    ]) {
      expect(() => parseAddress(url), url).to.throw(/^A Redis address must look like redis:\/\/host:port, /)
    }
  })

  it('with a password that is not percent-encoded are refused, and no part of it is shown', () => {
    for (const url of [
      'redis://u:hid@den@host:1',
      'redis://u:hid/den@host:1',
      'redis://u:12/den@host:1',
      'redis://u:12#den@host:1',
      'redis://u:hid?den@host:1/2',
      'redis://:12?den@host',
      'redis://hid/den@host:1',
      'rediss://u:hid%den@host:1',
      'rediss://u:hid%zzden@host:1/0',
      'redis-cluster://u:hid@den@a:1',
      'redis-cluster://u:hid/den@a:1',
      'redis-cluster://u:hid%den@a:1,b:2',
      'redis-sentinel://u:hid%den@a:1/name'
    ]) {
      expect(() => parseAddress(url), url).to.throw(/Its password must be percent-encoded: @ as %40, \/ as %2F/)
      expect(() => parseAddress(url), url).not.to.throw(/hid|den/)
      expect(safeAddress(url)).not.to.match(/hid|den|12/)
    }
  })

  it('are shown without credentials', () => {
    expect(safeAddress('redis://u:hidden@host:1')).to.equal('host:1')
    expect(safeAddress('redis-cluster://u:hidden@a:1,b:2')).to.equal('a:1,b:2 (Cluster)')
    expect(safeAddress('redis-sentinel://u:hidden@a:1/main')).to.equal('a:1 (Sentinels of main)')
    expect(safeAddress('redis-cluster://u:hidden@a')).to.equal('an unreadable URL')
  })
})
