/** Valid requests and plausible payments; a test names only what it is about. */
import { newPayment, type Payment, type PaymentProgress, type PaymentTerms } from '../../machines/model.js'
import { someTerms } from '../support/payments.js'

export const PAYMENT_ID = '019a0000-0000-7000-8000-000000000005'

/** Body of POST /v1/payments with every required field and no other. */
export function aCreateBody(): Record<string, unknown> {
  return {
    amount_cents: 15_990,
    external_reference: 'order-1',
    payment_source: { source_type: 'token', token_id: 'tok_1' },
    customer: {
      name: 'Maria da Silva',
      email: 'maria@example.com',
      document: '12345678909',
      phone: '11987654321',
      address: {
        zip_code: '01310100',
        street: 'Avenida Paulista',
        number: '1000',
        district: 'Bela Vista',
        city: 'São Paulo',
        state: 'SP'
      }
    }
  }
}

/** A copy of `body` with the field at `path` (`customer.address.state`) set, or removed when `value` is undefined. */
export function withField(body: Record<string, unknown>, path: string, value: unknown): Record<string, unknown> {
  const [name = '', ...rest] = path.split('.')
  const inner = body[name]
  if (rest.length === 0) {
    const { [name]: _, ...others } = body
    return value === undefined ? others : { ...others, [name]: value }
  }
  const object = typeof inner === 'object' && inner !== null ? { ...inner } : {}
  return { ...body, [name]: withField(object, rest.join('.'), value) }
}

export function aPayment(
  changes: { terms?: Partial<PaymentTerms>; progress?: Partial<PaymentProgress> } = {}
): Payment {
  const terms = someTerms({
    id: PAYMENT_ID,
    merchantId: 'm_one',
    amountCents: 15_990,
    customer: { name: 'Maria da Silva', email: 'maria@example.com' },
    createdAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    ...changes.terms
  })
  const payment = newPayment(terms, 'record')
  return { ...payment, progress: { ...payment.progress, ...changes.progress } }
}

/** The progress of a payment that was captured at once. */
export function capturedProgress(changes: Partial<PaymentProgress> = {}): PaymentProgress {
  const atMs = Date.UTC(2026, 0, 2, 3, 4, 6)
  return {
    ...aPayment().progress,
    status: 'captured',
    capturedCents: 15_990,
    references: { saleId: 'sale', tid: 'tid-1', nsu: 'nsu-1', authorizationCode: 'auth-1' },
    authorizedAtMs: atMs,
    capturedAtMs: atMs,
    operation: { kind: 'authorization', state: 'succeeded', amountCents: 15_990, idempotencyKey: 'key-of-the-create' },
    ...changes
  }
}
