/** A Docker engine on the folder of a Debian system, and its command line. */
import { type ChildProcess, spawn } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { delay } from '../../runtime/delay.js'
import { messageOf } from '../../runtime/message-of.js'
import { run } from '../clients-drill/run.js'

/** Below the root of each controller. */
export const CONTROL_GROUP = 'containers-drill'
const READY_WITHIN_MS = 60_000
const SOCKET = 'unix:///place/docker.sock'
const ENV = { DOCKER_HOST: SOCKET, PATH: '/usr/sbin:/usr/bin' }
/** The folder becomes the root of the engine: in a chroot runc can't exchange the root of a container. */
const AS_ROOT = 'cd "$0" && mkdir -p old && pivot_root . old && cd / && umount --lazy /old && exec "$@"'
/** The name server of slirp4netns. */
const NAME_SERVER = '10.0.2.3'

export class Engine {
  readonly #root: string
  readonly #process: ChildProcess

  private constructor(root: string, process: ChildProcess) {
    this.#root = root
    this.#process = process
  }

  /** Starts it on the system below `root`, where `folder` is `/place`. Resolves when it answers. */
  static async start(root: string, folder: string, log: (text: string) => void): Promise<Engine> {
    for (const args of mountsOf(root)) await run('mount', args)
    await run('mkdir', ['-p', `${root}/place`])
    await run('mount', ['--bind', folder, `${root}/place`])
    await run('ip', ['link', 'set', 'lo', 'up'])
    const args = [
      'dockerd',
      '--data-root=/place/docker',
      `--host=${SOCKET}`,
      `--dns=${NAME_SERVER}`,
      `--cgroup-parent=/${CONTROL_GROUP}`
    ]
    const dockerd = spawn('unshare', ['--mount', '--propagation=private', 'sh', '-c', AS_ROOT, root, ...args], {
      env: ENV,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    let last = ''
    for (const stream of [dockerd.stdout, dockerd.stderr]) {
      stream.on('data', (text: Buffer) => {
        last = String(text)
        log(last)
      })
    }
    const engine = new Engine(root, dockerd)
    for (const untilMs = Date.now() + READY_WITHIN_MS; ; await delay(200)) {
      const problem = await engine.docker('version').then(() => null, messageOf)
      if (problem === null && networkInterfaces()['tap0'] !== undefined) return engine
      if (dockerd.exitCode !== null || Date.now() > untilMs)
        throw new Error(`Docker does not start: ${last.trim() || problem}`)
    }
  }

  /** What `docker` prints. Rejects with its last lines when it fails. */
  async docker(...args: string[]): Promise<string> {
    return (await run('chroot', [this.#root, 'docker', ...args], { env: ENV })).stdout
  }

  /** Makes an image of a system below a folder. */
  async importFolder(folder: string, image: string): Promise<void> {
    await run('sh', ['-c', 'tar -c -C "$1" . | chroot "$2" docker import - "$3"', 'sh', folder, this.#root, image], {
      env: ENV
    })
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const ended = new Promise(done => this.#process.once('exit', done))
    this.#process.kill()
    await ended
  }
}

function mountsOf(root: string): string[][] {
  return [
    ['--bind', root, root],
    ['-t', 'proc', 'proc', `${root}/proc`],
    ['--rbind', '/sys', `${root}/sys`],
    ['--rbind', '/dev', `${root}/dev`],
    ['-t', 'tmpfs', 'tmpfs', `${root}/run`]
  ]
}
