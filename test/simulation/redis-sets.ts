/** Sets, as far as the service uses them: the payments that are to be compared after data came back. */
import type { Reply } from './lua.js'

interface Sets {
  set(key: string): Set<string> | undefined
  ensureSet(key: string): Set<string>
  remove(key: string): boolean
}

export const setCommands: Readonly<Record<string, (data: Sets, args: readonly string[]) => Reply>> = {
  SADD: (data, [key = '', ...members]) => {
    const set = data.ensureSet(key)
    const before = set.size
    for (const member of members) set.add(member)
    return set.size - before
  },
  SREM: (data, [key = '', ...members]) => {
    const set = data.set(key)
    const removed = members.filter(member => set?.delete(member)).length
    if (set?.size === 0) data.remove(key)
    return removed
  },
  SCARD: (data, [key = '']) => data.set(key)?.size ?? 0,
  SMEMBERS: (data, [key = '']) => [...(data.set(key) ?? [])],
  // Any of them will do.
  SRANDMEMBER: (data, [key = '', count]) => [...(data.set(key) ?? [])].slice(0, Number(count))
}
