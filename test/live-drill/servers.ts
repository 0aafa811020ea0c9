/** What surrounds the processes of a live installation: both Redis, the card network, files with their owners. */
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { createLogger } from '../../runtime/log.js'
import { type Simulator, startSimulator } from '../../scripts/simulator/simulator.js'
import { makeLoopbackTls, type TlsMaterial } from '../../scripts/start/loopback-tls.js'
import { freePort } from '../../scripts/start/ports.js'
import { obtainRedis } from '../../scripts/start/redis-binary.js'
import { ProcessSettings } from './process-settings.js'
import { Relay } from './relay.js'
import { ShippedRedis } from './shipped-redis.js'
import { type UnixUsers, unixUsers } from './unix-users.js'

export interface ServerOptions {
  /** The unpacked release, whose files are used and whose processes run. */
  readonly root: string
  /** For the Redis server, which is no part of a release. */
  readonly vendorDir: string
  /** An empty folder. */
  readonly dir: string
  /** Gets all that is printed. */
  readonly output: (text: string) => void
}

export interface Servers {
  readonly users: UnixUsers
  readonly settings: ProcessSettings
  readonly durable: ShippedRedis
  readonly memoryOnly: ShippedRedis
  readonly simulator: Simulator
  /** The https port of the card network. */
  readonly network: Relay
  /** Where the card network posts its notifications. */
  readonly notificationsPort: number
  readonly receiverTls: TlsMaterial
  stop(): Promise<void>
  killNow(): void
}

/** Makes and starts them. Rejects, with nothing left running, when one does not start. */
export async function startServers({ root, vendorDir, dir, output }: ServerOptions): Promise<Servers> {
  await chmod(dir, 0o711)
  const binary = await obtainRedis(vendorDir, output)
  const users = unixUsers([binary.file, process.execPath, join(root, 'dist/api/api.js'), join(root, 'package.json')])
  const tls = await makeLoopbackTls('Servers of the drill')
  const receiverTls = await makeLoopbackTls('Receivers of the drill')
  const createRedis = async (kind: 'durable' | 'memory-only'): Promise<ShippedRedis> => {
    const onOutput = (text: string): void => output(`${kind} | ${text}`)
    const filesDir = join(root, 'ops/redis')
    return await ShippedRedis.create({ kind, binary, filesDir, dir, tls, users, onOutput })
  }
  const [durable, memoryOnly] = [await createRedis('durable'), await createRedis('memory-only')]
  let simulator: Simulator | undefined
  const simulatorPort = (): number | undefined =>
    simulator === undefined ? undefined : Number(new URL(simulator.url).port)
  const network = await Relay.start(simulatorPort, tls)
  const stop = async (): Promise<void> => {
    await Promise.all([durable.stop(), memoryOnly.stop(), network.close(), simulator?.stop()])
  }
  const killNow = (): void => {
    durable.killNow()
    memoryOnly.killNow()
  }
  process.once('exit', killNow)
  try {
    const authorities = { own: tls, receivers: receiverTls }
    const networkUrl = `https://localhost:${network.port}`
    const settings = await ProcessSettings.create({ root, dir, users, durable, memoryOnly, authorities, networkUrl })
    await Promise.all([durable.start(), memoryOnly.start()])
    const notificationsPort = await freePort()
    simulator = await startSimulator({
      host: '127.0.0.1',
      port: 0,
      ledgerFile: null,
      ...settings.credentials,
      notificationsUrl: `http://127.0.0.1:${notificationsPort}/notifications`,
      log: createLogger('network', 'silent')
    })
    return {
      ...{ users, settings, durable, memoryOnly, simulator, network, notificationsPort, receiverTls, killNow },
      async stop() {
        await stop()
        process.off('exit', killNow)
      }
    }
  } catch (error) {
    await stop()
    process.off('exit', killNow)
    throw error
  }
}
