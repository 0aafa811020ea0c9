import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { operate } from '../../support/operator.js'
import { useService } from '../../support/service.js'
import { APPROVED, payByCard, payByToken, QUICK, storeCard } from './shopping.js'

interface VaultStatus {
  readonly keys: readonly { readonly key_id: string; readonly current: boolean; readonly cards: number }[]
}

describe('rotation of the vault keys in a running service', () => {
  const service = useService(QUICK)

  async function vault<T>(...args: string[]): Promise<T> {
    const { code, text, json } = await operate({ DATA_DIR: service().dataDir }, ['vault', ...args, '--json'])
    expect(code, text).to.equal(0)
    return json() as T
  }
  const cardsUnder = async (keyId: string): Promise<number | undefined> =>
    (await vault<VaultStatus>('status')).keys.find(({ key_id }) => key_id === keyId)?.cards
  const currentKey = async (): Promise<string> =>
    (await vault<VaultStatus>('status')).keys.find(({ current }) => current)?.key_id ?? expect.fail('no current key')

  it('seals every stored card anew while payments go on, and stops nothing', async () => {
    const cards = await Promise.all(Array.from({ length: 40 }, () => storeCard(service(), APPROVED)))
    const pidsBefore = [...service().pids('payments'), ...service().pids('tokens'), ...service().pids('api')]
    const first = await currentKey()
    const outcomes: (string | undefined)[] = []
    let isRotating = true
    const traffic = (async () => {
      while (isRotating)
        outcomes.push((await payByCard(service(), cards[outcomes.length % 40] ?? '', '123')).body.status)
    })()

    const rotated = await vault<{ key_id: string; resealed: number }>('rotate')
    await until('payments after the rotation', () => outcomes.length > 5)
    isRotating = false
    await traffic

    expect(rotated.resealed).to.be.at.least(40)
    expect(new Set(outcomes)).to.deep.equal(new Set(['captured']))
    expect(await cardsUnder(first)).to.equal(0)
    for (const card of cards.slice(0, 3)) expect((await payByCard(service(), card)).body.status).to.equal('captured')
    const pidsAfter = [...service().pids('payments'), ...service().pids('tokens'), ...service().pids('api')]
    expect(pidsAfter).to.deep.equal(pidsBefore)
  })

  it('lets tokens and api seal with the new key soon, and payments open it at once', async () => {
    const { key_id: keyId } = await vault<{ key_id: string }>('rotate')
    expect((await payByToken(service(), APPROVED)).body.status).to.equal('captured')
    await until('a card under the new key', async () => {
      const before = (await cardsUnder(keyId)) ?? 0
      await storeCard(service(), APPROVED)
      return ((await cardsUnder(keyId)) ?? 0) > before
    })
    expect((await payByToken(service(), APPROVED)).body.status).to.equal('captured')
  })
})
