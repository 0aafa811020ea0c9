/** What the steps of one command share, while this worker has the lock of its payment. */
import type { Lease } from '../../machines/lease.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import type { CommandRecorder } from './command-recorder.js'
import type { WorkerDeps } from './worker-deps.js'

export interface CommandRun {
  readonly entry: CommandEntry
  readonly deps: WorkerDeps
  readonly recorder: CommandRecorder
  /** Of the lock. */
  readonly lease: Lease
  /** Called no later than when something may have been changed or sent: a command that fails earlier is not begun. */
  readonly onBegin: () => void
}

/** The lock was lost before the work was done: the command is requeued and reconciled. */
export class LockLost extends Error {}

/** What a command is about, for logs. */
export function idsOf({ paymentKey, command, correlationId }: CommandEntry): Readonly<Record<string, string>> {
  const ids = { payment_id: paymentIdOfKey(paymentKey), command: command.kind }
  return correlationId === null ? ids : { ...ids, correlation_id: correlationId }
}
