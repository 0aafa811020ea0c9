/**
 * The audit of a contrary world: what the service did and told, against the ledger of an acquirer whose answers do not
 * always agree with it. Each line is a violation, and begins with its kind.
 */
import { orderIdOf } from '../../machines/network.js'
import { knownVoidedCents } from '../../machines/payment/amounts.js'
import type { ContraryCall, Deviation } from '../support/contrary-acquirer.js'
import {
  APPROVED_IN_PART,
  APPROVED_LATE,
  NAMED_OTHERWISE,
  REFUNDED_MORE,
  REFUSED_AND_BOOKED
} from '../support/contrary-kinds.js'
import { leftOf } from '../support/contrary-plan.js'
import { type ContrarySale, Wire } from '../support/contrary-wire.js'
import { auditPace } from './audit-pace.js'
import {
  type Books,
  type ContraryWorld,
  callsOf,
  isListedIn,
  ownSaleIdOf,
  SLACK_MS,
  wasListed
} from './contrary-books.js'
import type { PaymentLife } from './contrary-lives.js'

/** From what a look shows to the commit that lists the payment (ms): another part of the record may be behind until the horizon. */
const LISTED_WITHIN_MS = 90_000
/** A look that the merchant does not wait for, after an answer that says more than was asked (ms). */
const LOOKED_WITHIN_MS = 120_000
const TAKEN = ['captured', 'partially_refunded', 'refunded', 'charged_back']

export function auditContrary(world: ContraryWorld): string[] {
  return [...world.lives.payments.values()].flatMap(life => [
    ...auditAsked(world, life),
    ...auditFigures(world, life),
    ...auditDeviations(world, life),
    ...auditReversals(world, life),
    ...auditFailures(world, life),
    ...auditCaptures(world, life),
    ...auditPace(world, life)
  ])
}

/** No more is captured or refunded than merchants asked for, as far as the acquirer did what it was asked. */
function auditAsked({ acquirer, records }: ContraryWorld, { id, last }: PaymentLife): string[] {
  const ownSaleId = ownSaleIdOf(acquirer, last)
  const own = acquirer.calls.filter(
    ({ saleId, orderId, bookedCents }) => orderId === orderIdOf(id) && saleId === ownSaleId && bookedCents > 0
  )
  const capturedCents = sum(own, call => (isCaptureCall(acquirer, call) ? call.askedCents : 0))
  const refundedCents = sum(own, call => (isRefundCall(acquirer, call) ? call.askedCents : 0))
  const askedCents = askedRefundCents(records, { id, last })
  const problems: string[] = []
  if (capturedCents > last.terms.amountCents) problems.push(`captured more than asked: ${id} ${capturedCents}`)
  const isRefunding = TAKEN.includes(last.progress.status)
  if (isRefunding && refundedCents > askedCents) {
    problems.push(`refunded more than asked: ${id} ${refundedCents} of ${askedCents}`)
  }
  const sent = acquirer.calls.filter(({ verb, orderId }) => verb === 'sale' && orderId === orderIdOf(id)).length
  if (sent > 1) problems.push(`authorised more than once: ${id} ${sent}`)
  return problems
}

/** What a merchant asked to be refunded of a payment. */
function askedRefundCents(records: ContraryWorld['records'], { id, last }: Pick<PaymentLife, 'id' | 'last'>): number {
  const refunds = records.filter(({ paymentId, kind }) => paymentId === id && kind === 'cancel')
  return sum(refunds, ({ amountCents }) => amountCents ?? last.progress.capturedCents)
}

/** The merchant's figures are the ledger's, or the payment was listed since they differ. */
function auditFigures({ acquirer }: ContraryWorld, life: PaymentLife): string[] {
  const problems = wasListed(life, 0) || isUnknowable(acquirer, life) ? [] : differencesOf(acquirer, life)
  return problems.map(problem => `figures differ and it is not listed: ${life.id} ${problem}`)
}

/**
 * Something was done other than asked, and nothing told of it: the answer left it out, and no query followed; or the account
 * leaves out in all its records what was voided, and no answer told of it, or a false one.
 */
function isUnknowable(acquirer: Books, { id }: PaymentLife): boolean {
  const sales = acquirer.ofOrder(orderIdOf(id))
  const isUntold = acquirer.deviations.some(
    ({ orderId, toldAtMs, isLeftOut, shownAtMs }) =>
      orderId === orderIdOf(id) && toldAtMs === null && (isLeftOut ? shownAtMs === null : sales.some(isNeverShown))
  )
  return (
    isUntold ||
    sales.some(sale => isNeverShown(sale) && sale.kinds.includes('says done, books nothing, and says so later'))
  )
}

function isNeverShown({ kinds }: ContrarySale): boolean {
  return kinds.includes('never shows what is voided')
}

function differencesOf(acquirer: Books, { id, last }: PaymentLife): string[] {
  const { status, capturedCents } = last.progress
  const sales = acquirer.ofOrder(orderIdOf(id))
  const own = sales.filter(({ saleId }) => saleId === ownSaleIdOf(acquirer, last))
  const others = sales.filter(sale => !own.includes(sale))
  const problems: string[] = []
  if (TAKEN.includes(status)) {
    const truth = [sum(own, sale => sale.capturedCents), sum(own, refundedOf)]
    const told = [capturedCents, knownVoidedCents(last.progress)]
    if (truth.join() !== told.join()) problems.push(`tells ${told.join(' - ')}, the ledger has ${truth.join(' - ')}`)
  } else if (status !== 'pre_authorized' && !isOpenStatus(status)) {
    const kept = sum(own, sale => sale.capturedCents - refundedOf(sale))
    if (kept > 0) problems.push(`is ${status}, the ledger keeps ${kept}`)
    if (own.some(isHold)) problems.push(`is ${status}, the ledger holds the amount`)
  } else if (status === 'pre_authorized') {
    const held = own.find(isHold)
    if (held === undefined) problems.push('tells of a hold, the ledger has none')
  }
  if (others.some(sale => isHold(sale) || sale.capturedCents > refundedOf(sale))) problems.push('leaves a second sale')
  return problems
}

/** What the acquirer did other than asked is listed within the first look that shows it. */
function auditDeviations(world: ContraryWorld, life: PaymentLife): string[] {
  const { acquirer } = world
  return acquirer.deviations
    .filter(found => found.orderId === orderIdOf(life.id) && !isHarmless(world, life, found))
    .flatMap(({ saleId, what, atMs, toldAtMs, shownAtMs }) => {
      const toldMs = toldAtMs === null ? Number.POSITIVE_INFINITY : toldAtMs + LOOKED_WITHIN_MS
      const byMs = shownAtMs === null ? toldMs : shownAtMs + listedWithinMs(what, acquirer.sales.get(saleId))
      if (byMs === Number.POSITIVE_INFINITY || isListedIn(life, atMs, byMs)) return []
      const isLate = isListedIn(life, atMs, Number.POSITIVE_INFINITY)
      return [
        `not listed${isLate ? ' in time' : ''}, though ${shownAtMs === null ? 'told' : 'shown'}: ${life.id} ${what}`
      ]
    })
}

/**
 * A record that shows less than was asked for may be behind; the look that decides comes after the horizon of the last refund.
 * A look is whole when each of its queries was answered.
 */
function listedWithinMs(what: string, sale: ContrarySale | undefined): number {
  const isSeldomWhole = sale?.kinds.includes('answers queries with anything') === true
  return what.includes('less than asked') || isSeldomWhole ? SLACK_MS : LISTED_WITHIN_MS
}

/**
 * A lapsed hold is released, in spite of a refusal; of a sale approved in part nothing is left; a refund that was refused and booked, or booked too high, took the place of
 * the next one, which never arrived; the service never heard the answer that names another sale; or the worker died with the answer that
 * declined a sale, and the record of the approval is all that the service has seen.
 */
function isHarmless({ acquirer, records }: ContraryWorld, life: PaymentLife, { saleId, what }: Deviation): boolean {
  const { progress, history } = life.last
  const isEqual = (): boolean => differencesOf(acquirer, life).length === 0
  const isReleased = progress.status === 'expired' && acquirer.sales.get(saleId)?.capturedCents === 0
  if (isReleased || (what === REFUSED_AND_BOOKED && isEqual())) return true
  if (what === APPROVED_IN_PART && isEqual()) return isOver(acquirer.sales.get(saleId))
  const refundedCents = acquirer.sales.get(saleId)?.voidedCents ?? 0
  if (what === REFUNDED_MORE && refundedCents <= askedRefundCents(records, life)) return isEqual()
  if (what === APPROVED_LATE && isEqual()) return !history.some(({ event }) => event === 'DECLINED')
  return what === NAMED_OTHERWISE && progress.references.saleId === saleId
}

/** Nothing of it is left, or all of it was captured, which the merchant asked for. */
function isOver(sale: ContrarySale | undefined): boolean {
  return sale !== undefined && (leftOf(sale) === 0 || sale.capturedCents === sale.amountCents)
}

/** Nothing is told as failed that is booked, unless it was found and listed. */
function auditFailures({ acquirer }: ContraryWorld, life: PaymentLife): string[] {
  const { id, last, operations } = life
  return [...operations.values()]
    .filter(({ isFailed, endedMs }) => isFailed && endedMs !== null)
    .flatMap(operation => {
      const booked = callsOf(acquirer, life, operation).filter(({ bookedCents }) => bookedCents > 0)
      const isKept = operation.kind !== 'authorization' || acquirer.ofOrder(orderIdOf(id)).some(isLive)
      const isMadeUp = operation.kind === 'refund' && differencesOf(acquirer, life).length === 0
      const isFound = wasListed(life, operation.beganMs) || isUnknowable(acquirer, life)
      if (booked.length === 0 || !isKept || isMadeUp || isFound) return []
      return [`told as failed and booked: ${id} ${operation.kind} (${last.progress.status})`]
    })
}

/** The acquirer never takes a refund back. */
function auditReversals({ acquirer }: ContraryWorld, { id, last }: PaymentLife): string[] {
  const { refunds } = last.progress
  const isReversed = refunds.some(({ error }) => error === 'refund_reversed')
  const own = acquirer.ofOrder(orderIdOf(id)).filter(({ saleId }) => saleId === ownSaleIdOf(acquirer, last))
  const refundedCents = sum(own, refundedOf)
  const isFalse = isReversed && refundedCents > knownVoidedCents(last.progress)
  return isFalse ? [`told as reversed and booked: ${id} ${refundedCents}`] : []
}

/** Once the record has shown what is held, no more than that is asked for. */
function auditCaptures({ acquirer }: ContraryWorld, { id }: PaymentLife): string[] {
  const calls = acquirer.calls.filter(({ verb, orderId }) => verb === 'capture' && orderId === orderIdOf(id))
  const isAbove = ({ saleId, askedCents, atMs }: ContraryCall): boolean =>
    askedCents > (acquirer.sales.get(saleId)?.amountCents ?? 0) && (acquirer.firstShownMs.get(saleId) ?? atMs) < atMs
  return calls.some(isAbove) ? [`asks for more than is held: ${id}`] : []
}

function isCaptureCall(acquirer: Books, { verb, saleId }: ContraryCall): boolean {
  return verb === 'capture' || (verb === 'sale' && (acquirer.sales.get(saleId)?.isCaptureAsked ?? false))
}

function isRefundCall(acquirer: Books, { verb, saleId }: ContraryCall): boolean {
  return verb === 'void' && (acquirer.sales.get(saleId)?.capturedCents ?? 0) > 0
}

function refundedOf({ capturedCents, voidedCents }: ContrarySale): number {
  return capturedCents > 0 ? voidedCents : 0
}

function isHold({ status }: ContrarySale): boolean {
  return status === Wire.authorised
}

function isLive(sale: ContrarySale): boolean {
  return isHold(sale) || sale.capturedCents > refundedOf(sale)
}

function isOpenStatus(status: string): boolean {
  return ['pending', 'unknown', 'capturing', 'cancelling', 'refunding'].includes(status)
}

function sum<T>(items: readonly T[], figure: (item: T) => number): number {
  return items.reduce((total, item) => total + figure(item), 0)
}
