/** What /readyz and the operator's command say about data that nothing vouches for. */
import type { Missing } from './epochs.js'

/** The part of /readyz that they are about. */
export const DATA_PART = 'data'

export const UNVOUCHED =
  'Nothing vouches for the data of REDIS_URL: it may be older than what was done. Open payments are being compared with the card network, and older ones when their next operation comes. This ends by itself.'

/** What is missing in data that went back. `missing`: one for each partition that lacks something. */
export function wentBackSentence(missing: readonly Missing[]): string {
  const commits = missing.reduce((sum, part) => sum + part.commits, 0)
  const { from, to } = timeOf(missing)
  return `The data of REDIS_URL is older than what was acknowledged: ${commits} commits between ${from} and ${to} are missing. Money waits. Bring the newer data back, or accept this with \`operator installation accept-restored\` (docs/OPERATIONS.md, Redis).`
}

/** From the last command that the data has, to the last moment that is remembered. */
export function timeOf(missing: readonly Missing[]): { readonly from: string; readonly to: string } {
  const toMs = Math.max(...missing.map(part => part.toMs))
  const known = missing.flatMap(({ fromMs }) => (fromMs === 0 ? [] : [fromMs]))
  return { from: known.length === 0 ? 'its birth' : textOf(Math.min(toMs, ...known)), to: textOf(toMs) }
}

function textOf(atMs: number): string {
  return atMs === 0 ? 'an unknown time' : new Date(atMs).toISOString()
}
