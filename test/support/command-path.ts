/**
 * The command path of the API in this process, up to the stream: the real stores and scripts on a real Redis. Boxes are
 * plain texts, and no request waits for replies: a test lets a worker work, and repeats the request for its result.
 */

import type { CreateRequest, PaymentsPort, RequestScope } from '../../api/payments/payments-port.js'
import { createPayments, type SubmitDeps } from '../../api/payments/submit.js'
import type { CardSource } from '../../machines/commands.js'
import { noTexts } from '../../machines/merchant-text-rules.js'
import { createCardDeclineStore } from '../../redis/cards/card-declines.js'
import { createCardStore } from '../../redis/cards/cards.js'
import { ensureGroups } from '../../redis/commands/read-commands.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { createPaymentStore } from '../../redis/payments/payments.js'
import { createTokenStore, newCvvTokenId, newTokenId, type TokenStore } from '../../redis/tokens/tokens.js'
import { readConfig } from '../../runtime/config.js'
import { createCardData } from '../../workers/payments/card-data.js'
import { buyer, PARTITION } from './payments.js'
import type { TestRedis } from './redis.js'
import { aWorker, type TestWorker } from './worker.js'

const PARTITIONS = PARTITION + 1
/** A merchant of `PARTITION`, where the worker of the tests looks for commands. */
const PAYING_MERCHANT = 'm_0000000004'
const CARD = { number: '4024007153760060', holderName: 'Ada Lovelace', expirationMonth: '12', expirationYear: '2031' }
const TOKEN_TTL_MS = 60_000

const plainBoxes = {
  sealCard: (card: object) => JSON.stringify(card),
  sealTyped: (card: object) => JSON.stringify(card),
  sealCvv: (cvv: string) => cvv,
  openCard: (box: string) => JSON.parse(box),
  openTyped: (box: string) => JSON.parse(box),
  openCvv: (box: string) => box
}

/** Call it inside a hook or a test. `changes` replaces parts of the path. */
export async function aCommandPath(
  test: TestRedis,
  changes: (deps: SubmitDeps) => Partial<SubmitDeps> = () => ({})
): Promise<CommandPath> {
  await ensureGroups(test.redis, PARTITIONS, paymentWork)
  const deps: SubmitDeps = {
    config: readConfig({ SERVICE_ENV: 'test', PARTITIONS: String(PARTITIONS) }),
    clock: { now: () => Date.now() },
    store: createPaymentStore(unreplicated(test.redis)),
    tokens: createTokenStore(test.secrets),
    cards: createCardStore(unreplicated(test.redis), PARTITIONS),
    cardDeclines: createCardDeclineStore(test.redis, PARTITIONS),
    sealer: plainBoxes,
    replies: {
      channel: 'reply:test',
      expect: () => ({ within: async () => null, dispose: () => undefined }),
      stopWaiting: () => undefined
    },
    backlog: { ageMs: () => 0 }
  }
  return new CommandPath(test, { ...deps, ...changes(deps) })
}

export class CommandPath {
  readonly deps: SubmitDeps
  readonly payments: PaymentsPort
  readonly #test: TestRedis

  constructor(test: TestRedis, deps: SubmitDeps) {
    this.#test = test
    this.deps = deps
    this.payments = createPayments(deps)
  }

  get tokens(): TokenStore {
    return this.deps.tokens
  }

  /** A worker that opens the cards of this path. */
  worker(): TestWorker {
    return aWorker(this.#test, () => ({ cardData: createCardData(this.deps.tokens, this.deps.cards, plainBoxes) }))
  }

  /** A token that a buyer has just typed. */
  async token(): Promise<CardSource & { type: 'token' }> {
    const tokenId = newTokenId()
    const boxes = { cardBox: plainBoxes.sealCard(CARD), typedBox: plainBoxes.sealTyped({ ...CARD, cvv: '123' }) }
    await this.tokens.put({ tokenId, ...aCardOf(PAYING_MERCHANT), ...boxes }, TOKEN_TTL_MS)
    return { type: 'token', tokenId }
  }

  /** A card that the merchant has stored, and whose CVV comes with the request. */
  async storedCard(expirationYear = CARD.expirationYear): Promise<CardSource & { type: 'card' }> {
    const card = {
      tokenId: newTokenId(),
      ...aCardOf(PAYING_MERCHANT),
      expirationYear,
      cardBox: plainBoxes.sealCard(CARD)
    }
    const stored = await this.deps.cards.store(card)
    const cardId = stored?.card.cardId ?? ''
    return { type: 'card', cardId, hasCvv: true }
  }

  /** The same with its CVV in a token. */
  async storedCardWithCvvToken(): Promise<CardSource & { type: 'card' }> {
    const cvvTokenId = newCvvTokenId()
    const cvvBox = plainBoxes.sealCvv('123')
    await this.tokens.putCvvToken({ tokenId: cvvTokenId, merchantId: PAYING_MERCHANT, cvvBox }, TOKEN_TTL_MS)
    return { ...(await this.storedCard()), cvvTokenId }
  }
}

function aCardOf(merchantId: string) {
  const { number, ...holder } = CARD
  return { merchantId, brand: 'visa', last4: number.slice(-4), ...holder }
}

/** Who asks, under which key; `body` stands for what the fingerprint is made of. */
export function aScope(idempotencyKey: string, body = 'body'): RequestScope {
  return {
    merchantId: PAYING_MERCHANT,
    idempotencyKey,
    fingerprint: body,
    waitMs: 0,
    correlationId: null,
    traceparent: null
  }
}

export function aCreateRequest(source: CardSource, cvv: string | null = null): CreateRequest {
  return {
    terms: {
      externalReference: 'order-1',
      captureMode: 'auto',
      amountCents: 1_000,
      currency: 'BRL',
      installments: 1,
      ...noTexts,
      customer: { name: buyer.name, email: buyer.email },
      metadata: null
    },
    buyer,
    source,
    cvv
  }
}
