/** The service on one Redis, on a Cluster of three masters, and on a Cluster with WAIT_REPLICAS; side by side. */
import { join, resolve } from 'node:path'
import { temporaryFolder } from '../command-line/temporary-folder.js'
import { obtainRedis } from '../start/redis-binary.js'
import { RedisCluster } from '../start/redis-cluster.js'
import { sideBySideRow } from './report.js'
import { measureSideBySide, type SystemFigures } from './side-by-side.js'
import { type ServiceSystem, spreadOver, startService } from './systems.js'

const MASTERS = 3
const MERCHANTS = 24
const NODE_TIMEOUT_MS = 5_000

/** Stops everything that it started. */
export async function compareWithCluster(
  options: { rounds: number; payments: number; connections: number },
  progress: (line: string) => void
): Promise<{ figures: readonly SystemFigures[]; table: string }> {
  const place = await temporaryFolder('payments-bench-')
  const binary = await obtainRedis(resolve('.vendor'), progress)
  const clusters: RedisCluster[] = []
  const systems: ServiceSystem[] = []
  const start = async (name: string, env: Record<string, string>): Promise<ServiceSystem> => {
    const system = await spreadOver(await startService(join(place.path, name), { env, scale: [] }), name, MERCHANTS)
    systems.push(system)
    return system
  }
  const startOn = async (name: string, replicas: number): Promise<void> => {
    const cluster = await RedisCluster.start({ binary, masters: MASTERS, replicas, nodeTimeoutMs: NODE_TIMEOUT_MS })
    clusters.push(cluster)
    await start(name, { REDIS_URL: cluster.url, WAIT_REPLICAS: String(replicas) })
  }
  try {
    const single = await start('one', {})
    await startOn('cluster', 0)
    await startOn('cluster-waiting', 1)
    const figures = await measureSideBySide(systems, single, options, progress)
    return { figures, table: tableOf(figures, options) }
  } finally {
    for (const system of systems) await system.stop()
    for (const cluster of clusters) await cluster.stop()
    await place.remove()
  }
}

function tableOf(
  figures: readonly SystemFigures[],
  { rounds, connections }: { rounds: number; connections: number }
): string {
  return [
    `${rounds} rounds in turn, closed loop, ${connections} connections, ${MERCHANTS} merchants, all on one machine`,
    '',
    '* `one`: one Redis. `cluster`: 3 masters. `cluster-waiting`: 3 masters with a replica each, WAIT_REPLICAS=1.',
    '',
    '| system | requests/s (median, range) | p50 ms | p99 ms | p99.9 ms | CPU us per request, by process |',
    '|---|---|---|---|---|---|',
    ...figures.map(sideBySideRow),
    ''
  ].join('\n')
}
