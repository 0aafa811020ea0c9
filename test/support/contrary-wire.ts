/** The acquirer's words for a sale: written from its documents, for contrary-acquirer.ts. Pure. */
export interface WireAnswer {
  readonly status: number
  readonly body: string
  /** Booked, and then the connection breaks instead of an answer. */
  readonly isLost: boolean
}

/** `Payment.Status`. */
export const Wire = { unfinished: 0, authorised: 1, captured: 2, denied: 3, voided: 10, refunded: 11 } as const

/** One sale as the acquirer has it. */
export interface ContrarySale {
  readonly saleId: string
  readonly orderId: string
  readonly atMs: number
  /** What was asked for, and whether it was to be captured at once. */
  readonly askedCents: number
  readonly isCaptureAsked: boolean
  /** One of `Wire`. */
  readonly status: number
  /** What was approved. */
  readonly amountCents: number
  readonly capturedCents: number
  /** Released of a hold, or refunded of what was captured; cumulative. */
  readonly voidedCents: number
  readonly currency: string
  /** What befalls its calls and its record. */
  readonly kinds: readonly string[]
}

/** The answer to `POST /1/sales/`. */
export function createdAnswer(sale: ContrarySale, code = codeOf(sale)): WireAnswer {
  const view = recordOf(sale)
  return json(201, { ...view, Payment: { ...view.Payment, ReturnCode: code, Capture: sale.isCaptureAsked } })
}

function codeOf({ status }: ContrarySale): string {
  if (status === Wire.captured) return '6'
  return status === Wire.authorised ? '4' : '05'
}

/** The flat answer to a capture or void: without amounts and without the id of its sale. */
export function operationAnswer({ saleId, status }: ContrarySale, code: string, more: object = {}): WireAnswer {
  const Links = [{ Method: 'GET', Rel: 'self', Href: `https://acquirer.example/1/sales/${saleId}` }]
  return json(200, {
    Status: status,
    ReasonCode: 0,
    ReturnCode: code,
    ReturnMessage: 'Message',
    Tid: tidOf(saleId),
    Links,
    ...more
  })
}

/** The answer to `GET /1/sales/{PaymentId}`. */
export function recordOf(sale: ContrarySale) {
  const { saleId, orderId, status, amountCents, capturedCents, voidedCents, currency } = sale
  return {
    MerchantOrderId: orderId,
    Payment: {
      PaymentId: saleId,
      Tid: tidOf(saleId),
      Type: 'CreditCard',
      Amount: amountCents,
      Currency: currency,
      Country: 'BRA',
      Status: status,
      ...(status === Wire.denied ? {} : { ProofOfSale: '123456', AuthorizationCode: '654321' }),
      ...(capturedCents > 0 ? { CapturedAmount: capturedCents } : {}),
      ...(voidedCents > 0 ? { VoidedAmount: voidedCents } : {})
    }
  }
}

export interface WireRecord {
  readonly MerchantOrderId: string
  readonly Payment: Readonly<Record<string, unknown>>
}

/** The answer to `GET /1/sales?merchantOrderId=`. */
export function listAnswer(sales: readonly ContrarySale[]): WireAnswer {
  if (sales.length === 0) return { status: 404, body: '', isLost: false }
  const Payments = sales.map(({ saleId, atMs }) => ({
    PaymentId: saleId,
    ReceveidDate: new Date(atMs).toISOString().slice(0, -1)
  }))
  return json(200, { ReasonCode: 0, ReasonMessage: 'Successful', Payments })
}

export function errorAnswer(status: number, code: number, message: string): WireAnswer {
  return json(status, [{ Code: code, Message: message }])
}

export function json(status: number, body: object): WireAnswer {
  return { status, body: JSON.stringify(body), isLost: false }
}

function tidOf(saleId: string): string {
  return saleId.replace(/\D/g, '').slice(0, 13)
}
