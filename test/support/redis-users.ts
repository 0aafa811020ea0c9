/** The Redis users of docs/redis-acl, made in a running Redis of a test: each with its own name as its password. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Redis } from '../../redis/connections.js'

export type AclFile = 'durable' | 'memory-only'

/** Applies the file as it stands there, but for `user default off`: tests need one who may look at everything. */
export async function makeRedisUsers(redis: Redis, file: AclFile): Promise<readonly string[]> {
  const lines = (await readFile(`docs/redis-acl/${file}.acl`, 'utf8')).trim().split('\n')
  const users = lines.map(line => line.split(' ')).filter(([, name]) => name !== 'default')
  for (const [, name = '', ...rules] of users)
    await redis.acl('SETUSER', name, ...rules.map(rule => fillIn(rule, name)))
  return users.map(([, name = '']) => name)
}

/** The address under which a process logs in as its user. */
export function urlAs(user: string, url: string): string {
  const place = new URL(url)
  place.username = user
  place.password = user
  return place.href
}

function fillIn(rule: string, user: string): string {
  return rule.replace(/\$\{\w+_SHA256\}/, createHash('sha256').update(user).digest('hex'))
}
