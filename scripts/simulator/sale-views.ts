/** A sale of the ledger in the acquirer's JSON: the answer to a sale, to an operation, and to both queries. */
import { type LedgerSale, LedgerStatus } from './ledger.js'

interface Link {
  readonly Method: 'GET' | 'PUT'
  readonly Rel: string
  readonly Href: string
}

/** The answer to `POST /1/sales/`. Fields that only an approval has are absent from a denial. */
export function createdView(sale: LedgerSale, baseUrl: string): object {
  return {
    MerchantOrderId: sale.merchantOrderId,
    Customer: { Name: sale.customerName ?? '[Guest]' },
    Payment: {
      ServiceTaxAmount: 0,
      Installments: sale.installments,
      Interest: 0,
      Capture: sale.isAutoCapture,
      Authenticate: false,
      Recurrent: false,
      CreditCard: { ...cardView(sale), SaveCard: false },
      ...identifiers(sale),
      ...(sale.softDescriptor === null ? {} : { SoftDescriptor: sale.softDescriptor }),
      Provider: 'Simulado',
      IsQrCode: false,
      Amount: sale.amount,
      ReceivedDate: wireDate(sale.receivedAtMs),
      ...capturedFields(sale),
      Status: sale.status,
      IsSplitted: false,
      ReturnMessage: sale.returnMessage,
      ReturnCode: sale.returnCode,
      PaymentId: sale.paymentId,
      Type: 'CreditCard',
      Currency: 'BRL',
      Country: 'BRA',
      Links: linksOf(sale, baseUrl)
    }
  }
}

/** The answer to a capture or void: flat, without amounts and without the sale's id. */
export function operationView(sale: LedgerSale, returnCode: string, returnMessage: string, baseUrl: string): object {
  return {
    Status: sale.status,
    ReasonCode: 0,
    ReasonMessage: 'Successful',
    ProviderReturnCode: returnCode,
    ProviderReturnMessage: returnMessage,
    ReturnCode: returnCode,
    ReturnMessage: returnMessage,
    ...identifiers(sale),
    Links: linksOf(sale, baseUrl)
  }
}

/** The answer to `GET /1/sales/{PaymentId}`. Like the acquirer's, it has no return code. */
export function queriedView(sale: LedgerSale, baseUrl: string): object {
  return {
    MerchantOrderId: sale.merchantOrderId,
    AcquirerOrderId: sale.merchantOrderId,
    Customer: { Name: sale.customerName ?? '[Guest]' },
    Payment: {
      ServiceTaxAmount: 0,
      Installments: sale.installments,
      Interest: 'ByMerchant',
      Capture: sale.isAutoCapture,
      Authenticate: false,
      CreditCard: cardView(sale),
      ...identifiers(sale),
      PaymentId: sale.paymentId,
      Type: 'CreditCard',
      Amount: sale.amount,
      ReceivedDate: wireDate(sale.receivedAtMs),
      ...capturedFields(sale),
      ...(sale.capturedAtMs === null && sale.voidedAtMs === null ? {} : { VoidedAmount: sale.voidedAmount }),
      ...(sale.voidedAtMs === null ? {} : { VoidedDate: wireDate(sale.voidedAtMs) }),
      Currency: 'BRL',
      Country: 'BRA',
      Provider: 'Simulado',
      Status: sale.status,
      Links: linksOf(sale, baseUrl),
      ...(sale.chargebackCase === null ? {} : { Chargebacks: [chargebackView(sale, sale.chargebackCase)] })
    }
  }
}

/** The answer to `GET /1/sales?merchantOrderId=`: ids and dates only, with the acquirer's misspelling. */
export function orderView(sales: readonly LedgerSale[]): object {
  const Payments = sales.map(sale => ({
    PaymentId: sale.paymentId,
    ReceveidDate: new Date(sale.receivedAtMs - BRASILIA_OFFSET_MS).toISOString().slice(0, -1)
  }))
  return { ReasonCode: 0, ReasonMessage: 'Successful', Payments }
}

const BRASILIA_OFFSET_MS = 3 * 3_600_000

/** `YYYY-MM-DD HH:mm:ss` in Brasilia time, as the service reads the acquirer's dates. */
export function wireDate(timeMs: number): string {
  return new Date(timeMs - BRASILIA_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ')
}

function identifiers(sale: LedgerSale): object {
  if (sale.authorizationCode === null) return { Tid: sale.tid }
  return { ProofOfSale: sale.proofOfSale, Tid: sale.tid, AuthorizationCode: sale.authorizationCode }
}

function capturedFields(sale: LedgerSale): object {
  if (sale.capturedAtMs === null) return {}
  return { CapturedAmount: sale.capturedAmount, CapturedDate: wireDate(sale.capturedAtMs) }
}

function cardView({ card }: LedgerSale): object {
  return {
    CardNumber: card.maskedNumber,
    Holder: card.holder,
    ExpirationDate: card.expirationDate,
    Brand: card.brand
  }
}

function chargebackView(sale: LedgerSale, caseNumber: string): object {
  return {
    Amount: sale.capturedAmount,
    CaseNumber: caseNumber,
    Date: wireDate(sale.capturedAtMs ?? sale.receivedAtMs).slice(0, 10),
    ReasonCode: '104',
    ReasonMessage: 'Outras Fraudes - Cartao Ausente',
    Status: 'Received',
    RawData: 'Client did not participate and did not authorize transaction'
  }
}

function linksOf(sale: LedgerSale, baseUrl: string): readonly Link[] {
  const self = `${baseUrl}/1/sales/${sale.paymentId}`
  const links: Link[] = [{ Method: 'GET', Rel: 'self', Href: self }]
  if (sale.status === LedgerStatus.authorised) links.push({ Method: 'PUT', Rel: 'capture', Href: `${self}/capture` })
  if (sale.status === LedgerStatus.authorised || sale.status === LedgerStatus.captured)
    links.push({ Method: 'PUT', Rel: 'void', Href: `${self}/void` })
  return links
}
