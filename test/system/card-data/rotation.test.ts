import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { connectionOf } from '../../../scripts/operator/connection.js'
import { runOperator } from '../../../scripts/operator/program.js'
import { until } from '../../support/conditions.js'
import { useService } from '../../support/service.js'
import { APPROVED, payByCard, payByToken, QUICK, storeCard } from './shopping.js'

interface VaultStatus {
  readonly keys: readonly { readonly key_id: string; readonly current: boolean; readonly cards: number }[]
}

describe('rotation of the vault keys in a running service', function () {
  this.timeout(60_000)
  const service = useService(QUICK)

  async function vault<T>(...args: string[]): Promise<T> {
    let output = ''
    const exitCode = await runOperator(['vault', ...args, '--json'], {
      connect: () => connectionOf({ DATA_DIR: service().dataDir }),
      out: text => {
        output += text
      },
      err: text => {
        output += text
      }
    })
    expect(exitCode, output).to.equal(0)
    return JSON.parse(output) as T
  }
  /** By the name of a key: its id has a fingerprint as well. */
  const cardsUnder = async (name: string): Promise<number | undefined> =>
    (await vault<VaultStatus>('status')).keys.find(key => key.key_id.startsWith(`${name}-`))?.cards

  it('seals every stored card anew while payments go on, and stops nothing', async () => {
    const cards = await Promise.all(Array.from({ length: 40 }, () => storeCard(service(), APPROVED)))
    const pidsBefore = [...service().pids('payments'), ...service().pids('tokens'), ...service().pids('api')]
    const outcomes: (string | undefined)[] = []
    let isRotating = true
    const traffic = (async () => {
      while (isRotating)
        outcomes.push((await payByCard(service(), cards[outcomes.length % 40] ?? '', '123')).body.status)
    })()

    const rotated = await vault<{ key_id: string; resealed: number }>('rotate', '--to', 'k2')
    await until('payments after the rotation', () => outcomes.length > 5)
    isRotating = false
    await traffic

    expect(rotated.key_id).to.match(/^k2-[0-9a-f]{6}$/)
    expect(rotated.resealed).to.be.at.least(40)
    expect(new Set(outcomes)).to.deep.equal(new Set(['captured']))
    expect(await cardsUnder('k1')).to.equal(0)
    for (const card of cards.slice(0, 3)) expect((await payByCard(service(), card)).body.status).to.equal('captured')
    const pidsAfter = [...service().pids('payments'), ...service().pids('tokens'), ...service().pids('api')]
    expect(pidsAfter).to.deep.equal(pidsBefore)
  })

  it('lets tokens and api seal with the new key soon, and payments open it at once', async () => {
    await vault('rotate', '--to', 'k3')
    expect((await payByToken(service(), APPROVED)).body.status).to.equal('captured')
    await until('a card under the new key', async () => {
      const before = (await cardsUnder('k3')) ?? 0
      await storeCard(service(), APPROVED)
      return ((await cardsUnder('k3')) ?? 0) > before
    })
    expect((await payByToken(service(), APPROVED)).body.status).to.equal('captured')
  })

  it('can be repeated: no other key, and only what is left is sealed', async () => {
    const { key_id: keyId } = await vault<{ key_id: string }>('rotate', '--to', 'k3')
    expect(await vault('rotate', '--to', 'k3')).to.include({ key_id: keyId, resealed: 0 })
    const file = join(service().dataDir, 'vault', 'vault-private-keys.json')
    const ring = JSON.parse(await readFile(file, 'utf8')) as { keys: object }
    expect(Object.keys(ring.keys).map(id => id.slice(0, 3))).to.deep.equal(['k1-', 'k2-', 'k3-'])
  })
})
