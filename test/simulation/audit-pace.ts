/**
 * The audit of how often and for how long a contrary world saw the service work on one operation. Each line is a violation,
 * and begins with its kind.
 */
import { orderIdOf } from '../../machines/network.js'
import { type ContraryWorld, callsOf, isListedIn, ownSaleIdOf, SLACK_MS } from './contrary-books.js'
import { type OperationLife, type PaymentLife, RELEASE } from './contrary-lives.js'

/** Sends of one operation: the first, and one after each of the growing gaps of a day. */
const SENDS_MAX = 6
/** Looks at an operation from its list age on: the one that lists it, one after each gap of its age, and those for what the operator says. */
const LOOKS_MAX = 6
/** Documents of the acquirer, void and refund rules. */
const BETWEEN_VOIDS_MS = 5_000
/** From a conclusion, said a second time after the horizon, to the end of the operation (ms). */
const CONCLUDED_WITHIN_MS = 60_000
/** A call that was begun before the operator spoke (ms). */
const UNDER_WAY_MS = 5_000

export function auditPace(world: ContraryWorld, life: PaymentLife): string[] {
  return [
    ...[...life.operations.values()].flatMap(operation => [
      ...auditOperation(world, life, operation),
      ...auditLooks(world, life, operation)
    ]),
    ...auditVoids(world, life),
    ...auditConclusions(world, life)
  ]
}

/** One age from the first doubt, and few sends. */
function auditOperation(world: ContraryWorld, life: PaymentLife, operation: OperationLife): string[] {
  const { doubtMs, endedMs, kind, key } = operation
  const problems: string[] = []
  const sends = Math.max(
    0,
    ...['sale', 'capture', 'void'].map(
      verb => callsOf(world.acquirer, life, operation).filter(call => call.verb === verb).length
    )
  )
  if (sends > SENDS_MAX) problems.push(`sent too often: ${life.id} ${kind} ${sends} times`)
  const deadlineMs = (doubtMs ?? world.endedMs) + world.listAfterMs + SLACK_MS
  const isOver = (endedMs ?? world.endedMs) <= deadlineMs
  const isListed = isListedIn(life, doubtMs ?? 0, deadlineMs)
  if (!isOver && !isListed)
    problems.push(`neither ended nor listed in time: ${life.id} ${kind === 'cancel' && key === RELEASE ? key : kind}`)
  return problems
}

/** What is listed for its age is queried seldom. */
function auditLooks(
  { acquirer, looks, listAfterMs, endedMs: worldEndedMs }: ContraryWorld,
  { id, last }: PaymentLife,
  { doubtMs, endedMs, kind }: OperationLife
): string[] {
  if (doubtMs === null) return []
  const untilMs = endedMs ?? worldEndedMs
  const late = looks.filter(
    ({ saleId, atMs }) => saleId === ownSaleIdOf(acquirer, last) && atMs > doubtMs + listAfterMs && atMs < untilMs
  )
  return late.length > LOOKS_MAX ? [`looked at too often when it was listed: ${id} ${kind} ${late.length} times`] : []
}

/** The acquirer takes a second void within five seconds for a copy of the first. */
function auditVoids({ voidsSentMs, acquirer }: ContraryWorld, { id, operations }: PaymentLife): string[] {
  const asked = [...operations.values()].filter(({ kind }) => kind === 'cancel' || kind === 'refund')
  const isAsked = (atMs: number): boolean =>
    asked.some(({ beganMs, endedMs }) => atMs >= beganMs && atMs <= (endedMs ?? atMs))
  return acquirer.ofOrder(orderIdOf(id)).flatMap(({ saleId }) => {
    const times = voidsSentMs.get(saleId) ?? []
    const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0))
    const close = gaps.filter(gapMs => gapMs < BETWEEN_VOIDS_MS)
    const unasked = times.filter(atMs => !isAsked(atMs)).length
    return [
      ...(close.length > 0
        ? [`voids too close: ${id} ${close.length} of ${times.length}, ${Math.round(Math.min(...close))} ms apart`]
        : []),
      ...(unasked > SENDS_MAX ? [`voided too often unasked: ${id} ${unasked} times`] : [])
    ]
  })
}

/** What an operator concludes ends within one horizon, and nothing is sent for it any more. */
function auditConclusions({ acquirer, conclusions }: ContraryWorld, life: PaymentLife): string[] {
  return conclusions
    .filter(({ paymentId }) => paymentId === life.id)
    .flatMap(({ key, isBooked, isRepeated, atMs }) => {
      const operation = life.operations.get(key)
      if (operation === undefined) return []
      const problems: string[] = []
      if (isRepeated && (operation.endedMs ?? Number.POSITIVE_INFINITY) > atMs + CONCLUDED_WITHIN_MS) {
        problems.push(`not ended by the operator: ${life.id} ${operation.kind} ${isBooked ? 'booked' : 'not booked'}`)
      }
      const later = callsOf(acquirer, life, operation).find(call => call.atMs > atMs + UNDER_WAY_MS)
      if (!isBooked && later !== undefined) {
        problems.push(`sent after the operator said not booked: ${life.id} ${later.verb}`)
      }
      return problems
    })
}
