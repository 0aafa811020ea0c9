/** A PostgreSQL beside the service for the archive: on a loopback port, with a generated password. */
import { randomBytes } from 'node:crypto'
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { type EmbeddedServer, GUARD, startServer } from './embedded-server.js'
import type { PostgresBinary } from './postgres-binary.js'
import type { Ending, UnixUser } from './process-group.js'

/**
 * Creates the files at the first start, and runs the server. Under root it runs as a user without access to the folders
 * above, so the server reaches its own folder through a descriptor that the shell opens.
 */
const SERVER = `
exec 9<. || exit
base=/proc/self/fd/9; [ -e "$base" ] || base=$PWD
cd /
bin=$1; shift
# After the supervisor was killed, the server of an earlier start may still use these files.
tries=0
while read -r pid < "$base/data/postmaster.pid" && kill -0 "$pid" && [ "$tries" -lt 150 ]; do
  sleep 0.1; tries=$((tries + 1))
done 2>/dev/null
if [ ! -d "$base/data" ]; then
  rm -rf "$base/new"
  "$bin/initdb" --username payments --auth scram-sha-256 --pwfile "$base/password" --encoding UTF8 --locale C \\
    --pgdata "$base/new" >&2 && mv "$base/new" "$base/data" || exit
fi
set -- "$bin/postgres" -D "$base/data" "$@"
${GUARD}`

/** PostgreSQL refuses to run as root. The unprivileged user and group of every Linux. */
const UNPRIVILEGED: UnixUser = { uid: 65_534, gid: 65_534 }
/** After a kill the server first replays its log. */
const START_WITHIN_MS = 60_000

/** Starts a server and waits until it answers. Rejects with its last output when it ends instead. */
export async function startPostgres(options: {
  binary: PostgresBinary
  port: number
  /** Folder of this server's files; created when missing. */
  dir: string
  /** More settings, such as `max_connections=200`. */
  settings?: readonly string[]
  onOutput: (text: string) => void
  onEnd?: (ending: Ending, pauseMs: number) => void
}): Promise<EmbeddedServer> {
  const { binary, port, dir } = options
  const user = process.getuid?.() === 0 ? UNPRIVILEGED : undefined
  const url = `postgres://payments:${await passwordIn(dir, user)}@127.0.0.1:${port}/postgres`
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'log_min_messages=fatal',
    ...(options.settings ?? [])
  ]
  return await startServer({
    title: `PostgreSQL on port ${port}`,
    name: 'postgres',
    url,
    script: SERVER,
    args: [binary.folder, ...settings.flatMap(setting => ['-c', setting])],
    cwd: dir,
    user,
    libraryPath: binary.libraryPath,
    startWithinMs: START_WITHIN_MS,
    doesAnswer: () => answers(url),
    onOutput: options.onOutput,
    onEnd: options.onEnd
  })
}

/** The password of the server, created with its folder. */
async function passwordIn(dir: string, user: UnixUser | undefined): Promise<string> {
  const file = join(dir, 'password')
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const kept = await readFile(file, 'utf8').catch(() => '')
  if (kept !== '') return kept
  const password = randomBytes(24).toString('hex')
  await writeFile(file, password, { mode: 0o600 })
  if (user !== undefined) await Promise.all([dir, file].map(path => chown(path, user.uid, user.gid)))
  return password
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
