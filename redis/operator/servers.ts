/** Version and certificate of the servers behind a connection. */
import type { Redis as Single } from 'ioredis'
import { mastersOf } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'
import { type ServerVersion, versionsOf } from '../installation/server-state.js'

export interface ServerFacts extends ServerVersion {
  /** Null without TLS. */
  readonly certificateEndsMs: number | null
}

/** Of every master. */
export async function factsOfServers(redis: Redis): Promise<ServerFacts[]> {
  const ends = mastersOf(redis).map(node => {
    const { stream } = node as Single
    return 'getPeerCertificate' in stream ? Date.parse(stream.getPeerCertificate().valid_to) : null
  })
  return (await versionsOf(redis)).map((version, at) => ({ ...version, certificateEndsMs: ends[at] ?? null }))
}
