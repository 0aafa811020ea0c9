/**
 * The payments that were seen, each as one session of the `@statelyai/inspect` protocol. The payment id is the session id,
 * so a payment is one actor over all workers and restarts. Keeps the newest `SESSIONS_MAX` in memory.
 */
import type { StatelyInspectionEvent } from '@statelyai/inspect'
import { type Chart, readChart } from '../../machines/chart.js'
import { placeOf } from '../../machines/model.js'
import { paymentMachine } from '../../machines/payment/machine.js'
import type { ObservedDecision, ObservedPayment } from '../../redis/operator/inspection.js'
import { historyLines, plain } from './history.js'
import type { HistoryLine, PaymentFacts } from './view-model.js'

/** Version of the protocol, which is that of the package `@statelyai/inspect`. */
export const PROTOCOL_VERSION = '0.7.2'
const SESSIONS_MAX = 200
const REFUSALS_MAX = 20

interface Session {
  payment: ObservedPayment
  worker: string | null
  /** By time and event. The stored history has no workers. */
  readonly workers: Map<string, string>
  readonly refusals: HistoryLine[]
}

export interface Sessions {
  /** Messages about a decision for the viewers that are connected. */
  observe(decision: ObservedDecision): StatelyInspectionEvent[]
  /** Messages for a new viewer: the current state of every payment, the oldest first. */
  replay(): StatelyInspectionEvent[]
}

export function createSessions(): Sessions {
  const chart = readChart(paymentMachine)
  const definition = JSON.stringify(paymentMachine.config)
  const sessions = new Map<string, Session>()

  const begin = (payment: ObservedPayment): Session => {
    const session: Session = { payment, worker: null, workers: new Map(), refusals: [] }
    sessions.set(payment.id, session)
    const [oldest] = sessions.keys()
    if (sessions.size > SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest)
    return session
  }

  return {
    observe(decision) {
      const { payment, worker, event, atMs, refusal } = decision
      const known = sessions.get(payment.id)
      const session = known ?? begin(payment)
      session.worker = worker
      session.workers.set(`${atMs} ${event}`, worker)
      // Reports of two workers may arrive in the wrong order. The version tells which payment is newer.
      if (payment.version >= session.payment.version) session.payment = payment
      if (refusal !== null) {
        session.refusals.push({ ...plain(atMs, event, placeOf(payment.progress)), refusal, worker })
        session.refusals.splice(0, session.refusals.length - REFUSALS_MAX)
      }
      if (known === undefined) return [actorMessage(session, chart, definition)]
      return [eventMessage(payment.id, event, atMs), snapshotMessage(session, chart, event, atMs)]
    },
    replay: () => [...sessions.values()].map(session => actorMessage(session, chart, definition))
  }
}

function actorMessage(session: Session, chart: Chart, definition: string): StatelyInspectionEvent {
  const { id, createdAtMs } = session.payment
  return {
    ...head(id, createdAtMs),
    type: '@xstate.actor',
    name: `payment ${id}`,
    definition,
    parentId: undefined,
    snapshot: snapshotOf(session, chart)
  }
}

function eventMessage(id: string, event: string, atMs: number): StatelyInspectionEvent {
  return { ...head(id, atMs), type: '@xstate.event', event: { type: event }, sourceId: undefined }
}

function snapshotMessage(session: Session, chart: Chart, event: string, atMs: number): StatelyInspectionEvent {
  return {
    ...head(session.payment.id, atMs),
    type: '@xstate.snapshot',
    event: { type: event },
    snapshot: snapshotOf(session, chart)
  }
}

function head(
  id: string,
  atMs: number
): { sessionId: string; rootId: string; createdAt: string; id: string; _version: string } {
  return { sessionId: id, rootId: id, createdAt: String(atMs), id: `${id} ${atMs}`, _version: PROTOCOL_VERSION }
}

interface PaymentSnapshot {
  readonly status: 'active' | 'done'
  readonly output: undefined
  readonly error: undefined
  readonly value: string | Readonly<Record<string, string>>
  readonly context: PaymentFacts
}

function snapshotOf(session: Session, chart: Chart): PaymentSnapshot {
  const { status, phase } = session.payment.progress
  const isEnd = chart.states.find(({ path }) => path === status)?.kind === 'final'
  return {
    status: isEnd ? 'done' : 'active',
    output: undefined,
    error: undefined,
    value: phase === null ? status : { [status]: phase },
    context: factsOf(session, chart)
  }
}

function factsOf({ payment, worker, workers, refusals }: Session, chart: Chart): PaymentFacts {
  const { progress } = payment
  const lines = historyLines(payment, chart).map(line => ({
    ...line,
    worker: workers.get(`${line.atMs} ${line.event}`) ?? null
  }))
  return {
    place: placeOf(progress),
    merchantId: payment.merchantId,
    captureMode: payment.captureMode,
    amountCents: payment.amountCents,
    capturedCents: progress.capturedCents,
    refundedCents: progress.refundedCents,
    brand: payment.brand,
    createdAtMs: payment.createdAtMs,
    references: { ...progress.references },
    operation: `${progress.operation.kind} ${progress.operation.state}`,
    reviewReason: progress.reviewReason,
    worker,
    lines: [...lines, ...refusals].sort((one, other) => one.atMs - other.atMs)
  }
}
