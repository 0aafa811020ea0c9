/** The Redis users of ops/redis, made in a running Redis of a test: each with its own name as its password. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Redis } from '../../redis/connection/connections.js'
import { parseProcfile } from '../../scripts/start/procfile.js'

export type AclFile = 'durable' | 'memory-only'

/** Applies the file as it stands there, but for the user `default`: tests need one who may look at everything. */
export async function makeRedisUsers(redis: Redis, file: AclFile): Promise<readonly string[]> {
  const users = (await aclText(file)).split('\n').map(line => line.split(' '))
  const made = users.filter(([, name]) => name !== 'default')
  for (const [, name = '', ...rules] of made) await redis.acl('SETUSER', name, ...rules)
  return made.map(([, name = '']) => name)
}

/** The file with the passwords filled in, as a server loads it. */
export async function aclText(file: AclFile): Promise<string> {
  const lines = (await readFile(`ops/redis/${file}.acl`, 'utf8')).trim().split('\n')
  return lines.map(line => fillIn(line, line.split(' ')[1] ?? '')).join('\n')
}

/** The address under which a process logs in as its user. */
export function urlAs(user: string, url: string): string {
  const place = new URL(url)
  place.username = user
  place.password = user
  return place.href
}

/** The Procfile, in which each process has more settings, such as addresses that name its own user. */
export async function procfileWith(settingsOf: (processName: string) => readonly string[]): Promise<string> {
  const lines = parseProcfile(await readFile('Procfile', 'utf8')).map(
    ({ name, command }) => `${name}: ${command.replace(/^exec /, `exec env ${settingsOf(name).join(' ')} `)}`
  )
  return `${lines.join('\n')}\n`
}

function fillIn(line: string, user: string): string {
  return line.replace(/\$\{\w+_SHA256\}/, createHash('sha256').update(user).digest('hex'))
}
