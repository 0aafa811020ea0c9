/** Version and certificate expiry of the servers behind a connection. */
import type { Redis as Single } from 'ioredis'
import { mastersOf, nameOfServer } from '../connection/cluster-nodes.js'
import type { Redis } from '../connection/connections.js'

export interface ServerFacts {
  /** `host:port`. */
  readonly name: string
  /** Such as 7.2.4; Valkey reports the version of Redis that it is compatible with. */
  readonly version: string
  /** Null without TLS. */
  readonly certificateEndsMs: number | null
}

/** Of every master. */
export async function factsOfServers(redis: Redis): Promise<ServerFacts[]> {
  return await Promise.all(
    mastersOf(redis).map(async node => {
      const [, version = 'unknown'] = /^redis_version:(\S+)/m.exec(await node.info('server')) ?? []
      const { stream } = node as Single
      const ends = 'getPeerCertificate' in stream ? Date.parse(stream.getPeerCertificate().valid_to) : null
      return { name: nameOfServer(node), version, certificateEndsMs: ends }
    })
  )
}
