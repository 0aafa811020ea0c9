import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createEgressPolicy } from '../../../runtime/egress-policy.js'
import { checkedLookup, resolverWith } from '../../../workers/webhooks/resolver.js'

describe('names of receivers in /etc/hosts', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hosts-'))
  const file = join(dir, 'hosts')
  before(() =>
    writeFileSync(
      file,
      '# a partner, over a private line\n198.51.100.7\tPartner.example hooks.partner.example # its own\n2001:db8::7 partner.example\n'
    )
  )
  after(() => rmSync(dir, { recursive: true, force: true }))

  it('have the addresses that the file gives them', async () => {
    const resolve = resolverWith(file)
    expect(await resolve('partner.example')).to.deep.equal(['198.51.100.7', '2001:db8::7'])
    expect(await resolve('HOOKS.partner.example.')).to.deep.equal(['198.51.100.7'])
  })

  it('are refused where their address is not public, as all names are', async () => {
    writeFileSync(file, '10.0.0.7 partner.example\n')
    const lookup = checkedLookup(createEgressPolicy([]), resolverWith(file))
    const error = await new Promise(done => lookup('partner.example', { all: true }, done))
    expect(error).to.have.property('code', 'FORBIDDEN_TARGET')
  })
})
