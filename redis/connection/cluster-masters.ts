/** The masters that the client of a Cluster knows, and what it does while it lacks one. */
import type { Cluster, Redis as Single } from 'ioredis'

const SLOTS = 16_384

/** How often a Cluster is asked while this client lacks a connection to one of its servers (ms). */
const ASK_AGAIN_MS = 300

/**
 * Asks the Cluster who has what while this client knows no master for a slot, or has lost a server that it knows: until it
 * has them all, for any reason. The client itself asks only when it starts, and when a server says MOVED.
 */
export function keepMastersKnown(cluster: Cluster): void {
  const ask = (): void => {
    if (cluster.status === 'ready' && !isComplete(cluster)) cluster.refreshSlotsCache()
  }
  let timer: NodeJS.Timeout | undefined
  cluster.on('ready', () => {
    timer ??= setInterval(ask, ASK_AGAIN_MS).unref()
  })
  cluster.on('end', () => {
    clearInterval(timer)
    timer = undefined
  })
}

/** Whether each slot has a master, and this client a connection for each server. */
export function isComplete(cluster: Cluster): boolean {
  const masters = new Set(cluster.nodes('master').map(nameOfServer))
  const all = new Set(cluster.nodes().map(nameOfServer))
  let last: string[] | undefined
  for (let slot = 0; slot < SLOTS; slot++) {
    const servers = cluster.slots[slot]
    // Neighbours share a list.
    if (servers !== undefined && servers === last) continue
    const [master] = servers ?? []
    if (servers === undefined || master === undefined || !masters.has(master)) return false
    if (!servers.every(server => all.has(server))) return false
    last = servers
  }
  return true
}

/** `host:port`, as in the slots of a Cluster. */
export function nameOfServer({ options }: Single): string {
  return `${options.host}:${options.port}`
}
