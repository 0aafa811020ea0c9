/**
 * How a result finds the API process that waits for it: one pub/sub channel per process.
 *
 * A message carries the result; the stored result is the authority. A lost message costs
 * the client the rest of its wait, nothing else.
 */
import type { CommandResult } from '../../machines/commands.js'
import type { PaymentProgress } from '../../machines/model.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { storedProgress, storedResult } from '../payments/payment-record.js'
import { type Format, required, storedList, storedValue } from '../stored-fields.js'
import type { CommandEntry } from './command-entry.js'

/** Where the time of a command went in its worker, ms. Measured there; sent along with the reply. */
export interface WorkerTimes {
  /** From the acceptance to the worker, by the clocks of Redis and of the worker. */
  readonly queueMs: number
  readonly lockMs: number
  readonly networkMs: number
  /** From the moment the worker took the command to its last commit, lock and network included. */
  readonly workMs: number
}

/** `open`: the command's turn is over, but the outcome is not known yet. `times` null: the worker sent none. */
export type Reply = (
  | { readonly kind: 'ended'; readonly result: CommandResult }
  | { readonly kind: 'open'; readonly progress: PaymentProgress }
) & { readonly times: WorkerTimes | null }

/** A tenth of a millisecond is enough, and shorter. */
const tenths: Format<number, number> = { encode: ms => Math.round(ms * 10) / 10, decode: ms => ms }

const storedTimes = storedList<WorkerTimes>({
  queueMs: [0, tenths],
  lockMs: [0, tenths],
  networkMs: [0, tenths],
  workMs: [0, tenths]
})

interface ReplyMessage {
  readonly commandId: string
  readonly times: WorkerTimes | null
  /** Null while the outcome is not known. */
  readonly result: CommandResult | null
  /** Without a result. */
  readonly progress: PaymentProgress | null
}

const storedReply = storedValue<ReplyMessage>('reply', {
  commandId: [required],
  times: [null, storedTimes],
  result: [null, storedResult],
  progress: [null, storedProgress]
})

/** The message of a reply; '' when there is nothing to say. */
export function encodeReply(
  { replyTo }: Pick<CommandEntry, 'replyTo'>,
  result: CommandResult | null,
  progress: PaymentProgress | null,
  times: WorkerTimes | null = null
): string {
  if (replyTo === null || (result === null && progress === null)) return ''
  return storedReply.encode({
    commandId: replyTo.commandId,
    times,
    result,
    progress: result === null ? progress : null
  })
}

/** Null for what can't be read: a reply that is lost costs time, and the stored result is the authority. */
export function decodeReply(message: string): { commandId: string; reply: Reply } | null {
  try {
    const { commandId, times, result, progress } = storedReply.decode(message)
    if (result !== null) return { commandId, reply: { kind: 'ended', result, times } }
    return progress === null ? null : { commandId, reply: { kind: 'open', progress, times } }
  } catch {
    return null
  }
}

export interface ReplyListener {
  readonly channel: string
  /** Begins to listen for a command; call it before the command is accepted. */
  expect(commandId: string): ExpectedReply
  /** Ends all waiting, now and from now on: the process is about to stop. */
  stopWaiting(): void
}

export interface ExpectedReply {
  /** The reply, or null when `waitMs` ended first. */
  within(waitMs: number): Promise<Reply | null>
  /** Stops listening; always call it. */
  dispose(): void
}

/** Subscribes to the channel of this process. `subscriber` is used for nothing else. */
export async function listenForReplies(subscriber: Redis, instance: string): Promise<ReplyListener> {
  const channel = keys.replyChannel(instance)
  const waiting = new Map<string, (reply: Reply | null) => void>()
  subscriber.on('message', (_, message: string) => {
    const decoded = decodeReply(message)
    if (decoded !== null) waiting.get(decoded.commandId)?.(decoded.reply)
  })
  await subscriber.subscribe(channel)
  let isStopping = false
  return {
    channel,
    expect: commandId => expectReply(waiting, commandId, () => isStopping),
    stopWaiting: () => {
      isStopping = true
      for (const giveUp of waiting.values()) giveUp(null)
    }
  }
}

function expectReply(
  waiting: Map<string, (reply: Reply | null) => void>,
  commandId: string,
  isStopping: () => boolean
): ExpectedReply {
  let timer: NodeJS.Timeout | undefined
  const reply = new Promise<Reply | null>(resolve => waiting.set(commandId, resolve))
  return {
    within: waitMs => {
      const late = new Promise<null>(resolve => {
        timer = setTimeout(() => resolve(null), isStopping() ? 0 : waitMs)
      })
      return Promise.race([reply, late])
    },
    dispose: () => {
      clearTimeout(timer)
      waiting.delete(commandId)
    }
  }
}
