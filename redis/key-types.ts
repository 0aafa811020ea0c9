/** The type of each key of the durable Redis, by the first part of its name after the tag of a partition. */
import { partitionNumbers } from './keys.js'

type KeyType = 'string' | 'hash' | 'set' | 'zset' | 'list' | 'stream'

/** Of a partition, and one of each. Channels and what is written to be waited for (`fence`) are left out. */
const onePerPartition: Readonly<Record<string, KeyType>> = {
  seq: 'string',
  vouch: 'string',
  archived: 'string',
  commands: 'stream',
  dead: 'stream',
  webhooks: 'stream',
  begun: 'hash',
  review: 'hash',
  archive: 'hash',
  unvouched: 'set',
  due: 'zset',
  reconcile: 'zset',
  rests: 'zset',
  doubt: 'zset',
  hooklines: 'zset'
}

/** Of a partition, with the id of a payment, a merchant or a card behind them. */
const manyPerPartition: Readonly<Record<string, KeyType>> = {
  pay: 'string',
  idem: 'string',
  card: 'string',
  cardtok: 'string',
  declines: 'string',
  hook: 'string',
  hookfailing: 'string',
  sales: 'hash',
  st: 'zset',
  ref: 'zset',
  hookline: 'zset',
  hookgone: 'zset',
  hookfifo: 'list',
  hooksent: 'stream'
}

const ofInstallation: Readonly<Record<string, KeyType>> = {
  installation: 'string',
  acquirer: 'string',
  vault_keys: 'string',
  webhook_keys: 'string',
  reconcile_pace: 'string',
  known_sale: 'string',
  clock_offset: 'string',
  inspector: 'string',
  merchants: 'zset',
  keys: 'zset',
  heartbeats: 'zset',
  '{heartbeats}:webhooks': 'zset',
  '{heartbeats}:timers': 'zset',
  '{notifications}:due': 'zset',
  '{notifications}:since': 'hash',
  operator_audit: 'stream'
}

/** The type that a key has when the service wrote it; undefined: it is none of its keys. */
export function typeOfKey(key: string): KeyType | undefined {
  const [, part = ''] = /^\{p\d+\}:([^:]+)/.exec(key) ?? []
  if (part !== '') return onePerPartition[part] ?? manyPerPartition[part]
  return ofInstallation[key] ?? (/^(merchant|key):/.test(key) ? 'hash' : undefined)
}

/** The keys whose names are known without any data. */
export function fixedKeys(partitions: number): string[] {
  const ofPartition = (partition: number): string[] =>
    Object.keys(onePerPartition).map(part => `{p${String(partition).padStart(2, '0')}}:${part}`)
  return [...Object.keys(ofInstallation), ...partitionNumbers(partitions).flatMap(ofPartition)]
}
