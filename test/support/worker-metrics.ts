/** Metrics of a worker that no test reads. */
import { Registry } from 'prom-client'
import { createWorkerMetrics } from '../../workers/payments/payments-metrics.js'

export const unreadMetrics = createWorkerMetrics(new Registry())
