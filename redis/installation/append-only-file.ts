/** Whether the append-only file is rewritten: one that only grows fills its disk, and makes each restart longer. */
import { nameOfServer } from '../connection/cluster-masters.js'
import type { Redis } from '../connection/connections.js'
import { infoField } from '../connection/reply-fields.js'
import { askMasters } from '../connection/unreachable.js'

/** With auto-aof-rewrite-percentage 100 a file is at most twice its size after a rewrite, and what came meanwhile. */
const GROWTH_MAX = 3
/** Redis rewrites no smaller file (auto-aof-rewrite-min-size). */
const MIN_BYTES = 64 * 1_048_576
const MEGABYTE = 1_000_000

/** A sentence for /readyz, or undefined. Rejects when a master does not answer. */
export async function growthWarning(redis: Redis): Promise<string | undefined> {
  const found = await askMasters(redis, async node => growthIn(await node.info('persistence'), nameOfServer(node)))
  return found.filter(sentence => sentence !== undefined).join(' ') || undefined
}

/** The same of one server, from its INFO persistence. */
export function growthIn(info: string, server: string): string | undefined {
  const sizeOf = (file: string): number => Number(infoField(info, `aof_${file}_size`) ?? 0)
  const [bytes, baseBytes] = [sizeOf('current'), sizeOf('base')]
  if (infoField(info, 'aof_last_bgrewrite_status') === 'err') {
    return `The last rewrite of the append-only file of ${server} failed: its log says why, most often too little disk or memory. Make room, then BGREWRITEAOF.`
  }
  if (infoField(info, 'aof_rewrite_in_progress') === '1' || bytes <= GROWTH_MAX * Math.max(baseBytes, MIN_BYTES))
    return undefined
  const megabytes = (size: number): string => `${Math.round(size / MEGABYTE)} MB`
  return `The append-only file of ${server} has ${megabytes(bytes)}, and had ${megabytes(baseBytes)} after its last rewrite. CONFIG SET auto-aof-rewrite-percentage 100, then BGREWRITEAOF.`
}
