/** Metrics of a worker that no test reads. */
import { Registry } from 'prom-client'
import { createWorkerMetrics } from '../../workers/payments/payments-metrics.js'

export const unreadMetrics = createWorkerMetrics(new Registry())

const silent = (): void => undefined

/** Those of `webhooks`. */
export const silentMetrics = { attempted: silent, failed: silent, gaveUp: silent, dropped: silent }
