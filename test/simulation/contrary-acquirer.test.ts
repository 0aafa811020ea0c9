import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { ContraryAcquirer } from '../support/contrary-acquirer.js'
import { type ContraryKind, contraryKinds } from '../support/contrary-kinds.js'
import { Wire, type WireAnswer } from '../support/contrary-wire.js'
import { createRandom } from './random.js'

const FILES = ['contrary-acquirer', 'contrary-kinds', 'contrary-plan', 'contrary-vague', 'contrary-wire']
/** Enough lives of a sale for each kind to show. */
const LIVES = 60

interface Stage {
  readonly acquirer: ContraryAcquirer
  readonly notified: string[]
  /** Lets so much time pass. */
  readonly wait: (ms: number) => void
}

/** An acquirer whose time passes only when the test says so. */
function stageOf(kinds: readonly ContraryKind[]): Stage {
  let nowMs = 0
  let planned: { readonly atMs: number; readonly run: () => void }[] = []
  const notified: string[] = []
  const acquirer = new ContraryAcquirer({
    nowMs: () => nowMs,
    later: (delayMs, run) => void planned.push({ atMs: nowMs + delayMs, run }),
    notify: saleId => void notified.push(saleId),
    dice: createRandom(1)
  })
  acquirer.kinds = kinds.map(kind => ({ kind, share: 1 }))
  const wait = (ms: number): void => {
    nowMs += ms
    const due = planned.filter(({ atMs }) => atMs <= nowMs)
    planned = planned.filter(({ atMs }) => atMs > nowMs)
    for (const { run } of due.sort((a, b) => a.atMs - b.atMs)) run()
  }
  return { acquirer, notified, wait }
}

function sell({ acquirer }: Stage, orderId: string, isCapture: boolean, card = '4024007153760060'): WireAnswer {
  const Payment = { Amount: 10_000, Capture: isCapture, CreditCard: { CardNumber: card } }
  const body = JSON.stringify({ MerchantOrderId: orderId, Payment })
  return acquirer.answer('POST', '/1/sales/', new URLSearchParams(), body)
}

function ask({ acquirer }: Stage, method: 'GET' | 'PUT', url: string): WireAnswer {
  const [path = '', query = ''] = url.split('?')
  return acquirer.answer(method, path, new URLSearchParams(query), '')
}

function saleOf({ acquirer }: Stage, orderId: string) {
  const [sale] = acquirer.ofOrder(orderId)
  if (sale === undefined) throw new Error(`no sale of ${orderId}`)
  return sale
}

/** Holds, captures a part, voids a part of it and then the rest, and looks after each; returns all the answers. */
function live(stage: Stage, orderId: string): WireAnswer[] {
  const answers = [sell(stage, orderId, orderId.endsWith('c'))]
  const look = (): void => {
    stage.wait(30_000)
    answers.push(ask(stage, 'GET', `/1/sales?merchantOrderId=${orderId}`))
    for (const { saleId } of stage.acquirer.ofOrder(orderId)) answers.push(ask(stage, 'GET', `/1/sales/${saleId}`))
  }
  look()
  for (const call of ['capture?amount=4000', 'void?amount=1000', 'void?amount=500', 'void']) {
    const [sale] = stage.acquirer.ofOrder(orderId)
    if (sale !== undefined) answers.push(ask(stage, 'PUT', `/1/sales/${sale.saleId}/${call}`))
    look()
  }
  return answers
}

describe('the contrary acquirer', () => {
  it('imports nothing of the service or its simulator', () => {
    for (const file of FILES) {
      const text = readFileSync(`test/support/${file}.ts`, 'utf8')
      const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from)
      expect(
        imports.filter(from => !FILES.includes(from?.replace(/^\.\/|\.js$/g, '') ?? '')),
        file
      ).to.deep.equal([])
    }
  })

  it('answers as documented while it is not contrary', () => {
    const stage = stageOf([])
    const sold = JSON.parse(sell(stage, 'A', false).body)
    const { saleId } = saleOf(stage, 'A')
    expect(sold).to.deep.include({ MerchantOrderId: 'A' })
    expect(sold.Payment).to.deep.include({
      PaymentId: saleId,
      Status: Wire.authorised,
      ReturnCode: '4',
      Amount: 10_000
    })
    const captured = ask(stage, 'PUT', `/1/sales/${saleId}/capture?amount=4000`)
    expect(JSON.parse(captured.body)).to.deep.include({ Status: Wire.captured, ReturnCode: '6' })
    const again = ask(stage, 'PUT', `/1/sales/${saleId}/capture`)
    expect([again.status, JSON.parse(again.body)[0].Code]).to.deep.equal([400, 308])
    const part = ask(stage, 'PUT', `/1/sales/${saleId}/void?amount=1000`)
    expect(JSON.parse(part.body)).to.deep.include({ Status: Wire.captured, ReturnCode: '0' })
    expect(JSON.parse(ask(stage, 'PUT', `/1/sales/${saleId}/void?amount=3001`).body).ReturnCode).to.equal('102')
    const list = JSON.parse(ask(stage, 'GET', '/1/sales?merchantOrderId=A').body)
    expect(list.Payments.map(({ PaymentId }: { PaymentId: string }) => PaymentId)).to.deep.equal([saleId])
    const { Payment } = JSON.parse(ask(stage, 'GET', `/1/sales/${saleId}`).body)
    expect(Payment).to.deep.include({ Status: Wire.captured, CapturedAmount: 4_000, VoidedAmount: 1_000 })
    expect(ask(stage, 'GET', '/1/sales?merchantOrderId=B').status).to.equal(404)
    expect(JSON.parse(sell(stage, 'C', true, '4024007153760052').body).Payment.Status).to.equal(Wire.denied)
  })

  it('differs by each of its kinds, and keeps a ledger that adds up', () => {
    for (const kind of contraryKinds) {
      const [stage, honest] = [stageOf([kind]), stageOf([])]
      let different = 0
      for (let i = 0; i < LIVES; i++) {
        const orderId = `${i}${i % 2 === 0 ? 'h' : 'c'}`
        different += Number(shapeOf(live(stage, orderId)) !== shapeOf(live(honest, orderId)))
      }
      for (const { capturedCents, amountCents, voidedCents } of stage.acquirer.sales.values()) {
        expect(capturedCents, kind).to.be.within(0, amountCents)
        expect(voidedCents, kind).to.be.within(0, capturedCents || amountCents)
      }
      expect(different + stage.notified.length, kind).to.be.above(0)
    }
  })
})

/** The answers without what is drawn: ids, and which of two equal codes a void gets. */
function shapeOf(answers: readonly WireAnswer[]): string {
  return answers
    .map(({ status, body, isLost }) => `${status} ${isLost} ${body}`)
    .join('\n')
    .replace(/[0-9a-f]{8}-0000-4000-8000-[0-9a-f]{12}|"Tid":"\d+"/g, '')
    .replace(/"Status":11/g, '"Status":10')
    .replace(/"ReturnCode":"9"/g, '"ReturnCode":"0"')
}
