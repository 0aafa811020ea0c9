/** Steps about keys: those of the vault are rotated as docs/ says, under load. */
import { randomUUID } from 'node:crypto'
import { delay } from '../../runtime/delay.js'
import { messageOf } from '../../runtime/message-of.js'
import { demoCard, demoCustomer } from '../../scripts/start/demo-customer.js'
import { until } from '../support/conditions.js'
import type { Installation } from './installed-service.js'
import type { Drill, Step } from './step.js'

/** Longer than processes need to notice new key files, and a revoked key. */
const NOTICED_AFTER_MS = 2_000
const PERMISSIONS = 'payments:read,payments:write,cards:write,webhooks:write'

/** The keys of a merchant: one for its server, one for browsers. */
export async function createKeys(
  { operator }: Installation,
  merchantId: string
): Promise<{ readonly apiKey: string; readonly publishableKey: string }> {
  const secret = await operator(`key create --merchant ${merchantId} --permissions ${PERMISSIONS}`)
  const publishable = await operator(`key create --merchant ${merchantId} --publishable`)
  return { apiKey: String(secret['key']), publishableKey: String(publishable['key']) }
}

export const vaultKeys: Step = {
  name: 'vault-keys',
  does: '`vault rotate` by the operator (as root where the drill is), under load',
  expects: 'payments go on, with the new key',
  async run(drill) {
    const { installation } = drill
    const urls = [...(await installation.opsUrls()).values()].join(',')
    const { key_id: keyId } = await installation.operator(`vault rotate --ops ${urls}`)
    await delay(NOTICED_AFTER_MS)
    let status: unknown
    await until('a new card is sealed with the new key', async () => {
      status = await chargeStoredCard(drill)
      const { keys } = await installation.operator('vault status')
      return (keys as readonly { key_id: unknown; cards: number }[]).some(key => key.key_id === keyId && key.cards > 0)
    })
    const { users, settings } = installation
    const wrong = users.reason === undefined ? settings.wrongReaders() : []
    await until('all are ready', async () => (await unreadyOf(installation)).length === 0)
    return {
      isOk: wrong.length === 0 && status === 'captured',
      seen: `a new card is sealed with ${keyId} and its payment is ${status}${wrong.map(words => `; ${words}`).join('')}`
    }
  }
}

/** Stores a card by a new token, and charges it. Resolves to the status of the payment. */
async function chargeStoredCard({ target, load }: Drill): Promise<unknown> {
  const post = async (url: string, key: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID()
    }
    return Object(await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json())
  }
  const token = await post(`${target.tokensUrls[0]}/v1/tokens`, target.publishableKey, demoCard)
  const card = await post(`${target.apiUrls[0]}/v1/cards`, target.apiKey, { token_id: token['token_id'] })
  const paid = await post(`${target.apiUrls[0]}/v1/payments`, target.apiKey, {
    amount_cents: 1_000,
    external_reference: 'stored-card',
    customer: demoCustomer,
    payment_source: { source_type: 'card', card_id: card['card_id'] }
  })
  // No client records it.
  load.forget([String(paid['id'])])
  return paid['status'] ?? JSON.stringify(paid)
}

/** The problems and warnings of all processes. */
async function unreadyOf({ opsUrls }: Installation): Promise<string[]> {
  const answers = await Promise.all(
    [...(await opsUrls())].map(async ([name, url]) => {
      const answer = await fetch(`${url}/readyz`).catch(messageOf)
      if (typeof answer === 'string') return `${name}: ${answer}`
      const { problems, warnings }: { problems?: object; warnings?: object } = JSON.parse(await answer.text())
      return Object.values({ ...problems, ...warnings })
        .map(words => `${name}: ${words}`)
        .join('; ')
    })
  )
  return answers.filter(Boolean)
}
