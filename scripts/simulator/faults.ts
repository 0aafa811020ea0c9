/**
 * Faults on request: `PUT /simulator/faults`.
 *
 * Each probability is drawn for each request to the acquirer's routes, independently. Of several, the first one wins:
 * `throttle`, `gateway_down`, `drop_before`, `error_before`, then (the request is booked) `late` delays what follows,
 * `drop_after`, `error_after`.
 */
import { isRecord } from '../../runtime/json.js'

/** The fault set on the wire; all probabilities from 0 to 1. */
export interface Faults {
  /** The gateway answers 429 with `Retry-After: 1`; nothing booked. */
  readonly throttle: number
  /** The gateway answers 503; nothing booked. */
  readonly gateway_down: number
  /** Connection cut, nothing booked. */
  readonly drop_before: number
  /** Booked, then connection cut. */
  readonly drop_after: number
  /** HTTP 500 without booking. */
  readonly error_before: number
  /** Booked, then HTTP 500. */
  readonly error_after: number
  /** Booked at once, answered after `late_ms`. */
  readonly late: number
  readonly late_ms: number
  /** A query is answered "there is no such sale" (404), although it is booked. */
  readonly deny_queries: number
  /** Time for every answer; half of it passes before the booking. Two figures: a log-normal distribution. */
  readonly latency_ms: number | { readonly median: number; readonly p99: number }
}

export const NO_FAULTS: Faults = {
  throttle: 0,
  gateway_down: 0,
  drop_before: 0,
  drop_after: 0,
  error_before: 0,
  error_after: 0,
  late: 0,
  late_ms: 3_000,
  deny_queries: 0,
  latency_ms: 0
}

/** The faults that one request meets. */
export interface RequestFaults {
  readonly before: 'throttle' | 'gateway_down' | 'drop' | 'error' | null
  readonly after: 'drop' | 'error' | null
  readonly isDenied: boolean
  readonly lateMs: number
  readonly latencyMs: number
}

export interface FieldFault {
  readonly path: string
  readonly message: string
}

const LATENCY_MS_MAX = 600_000
/** The 99th percentile of a normal distribution, in standard deviations. */
const P99_DEVIATIONS = 2.3263

const fieldRules: Readonly<Record<keyof Faults, { isValid: (value: unknown) => boolean; expected: string }>> = {
  throttle: probability(),
  gateway_down: probability(),
  drop_before: probability(),
  drop_after: probability(),
  error_before: probability(),
  error_after: probability(),
  late: probability(),
  deny_queries: probability(),
  late_ms: { isValid: isTime, expected: `must be a number of ms from 0 to ${LATENCY_MS_MAX}` },
  latency_ms: {
    isValid: value => isTime(value) || isDistribution(value),
    expected: `must be a number of ms from 0 to ${LATENCY_MS_MAX}, or {"median", "p99"} with 0 < median <= p99`
  }
}

/** The whole new set (what is absent is off), or every field that is wrong. */
export function parseFaults(body: unknown): { faults: Faults } | { problems: readonly FieldFault[] } {
  if (!isRecord(body)) return { problems: [{ path: '', message: 'must be a JSON object; {} is no faults' }] }
  const problems = Object.entries(body).flatMap(([path, value]) => {
    const rule = isFaultName(path) ? fieldRules[path] : undefined
    if (rule === undefined) return [{ path, message: `is no fault; known are ${Object.keys(fieldRules).join(', ')}` }]
    return rule.isValid(value) ? [] : [{ path, message: rule.expected }]
  })
  return problems.length > 0 ? { problems } : { faults: { ...NO_FAULTS, ...(body as Partial<Faults>) } }
}

/** Draws the faults of one request. `random` gives numbers from 0 up to, but not including, 1. */
export function drawFaults(faults: Faults, random: () => number): RequestFaults {
  const happens = (chance: number) => chance > 0 && random() < chance
  const before = beforeBooking(faults, happens)
  const lateMs = happens(faults.late) ? faults.late_ms : 0
  const after = happens(faults.drop_after) ? 'drop' : happens(faults.error_after) ? 'error' : null
  const isDenied = happens(faults.deny_queries)
  return { before, after, isDenied, lateMs, latencyMs: latencyOf(faults.latency_ms, random) }
}

function beforeBooking(faults: Faults, happens: (chance: number) => boolean): RequestFaults['before'] {
  if (happens(faults.throttle)) return 'throttle'
  if (happens(faults.gateway_down)) return 'gateway_down'
  return happens(faults.drop_before) ? 'drop' : happens(faults.error_before) ? 'error' : null
}

function latencyOf(latency: Faults['latency_ms'], random: () => number): number {
  if (typeof latency === 'number') return latency
  const deviation = Math.log(latency.p99 / latency.median) / P99_DEVIATIONS
  // Box-Muller; 1 - random() is never 0.
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.min(latency.median * Math.exp(deviation * normal), LATENCY_MS_MAX)
}

function isFaultName(name: string): name is keyof Faults {
  return Object.hasOwn(fieldRules, name)
}

function probability() {
  return {
    isValid: (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1,
    expected: 'must be a probability from 0 to 1'
  }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LATENCY_MS_MAX
}

function isDistribution(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { median, p99, ...rest } = value
  return isTime(median) && isTime(p99) && median > 0 && median <= p99 && Object.keys(rest).length === 0
}
