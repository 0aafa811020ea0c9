/** Scripts at random, with their keys and arguments by name. */
import { expect } from 'chai'
import { argumentsOf, loadLua } from '../../redis/scripts.js'
import type { Random } from './random.js'
import { anEntry, oneOfTwo, STREAM, type Step, type Steps } from './steps.js'

/** Scripts of the life of a payment. */
export function scriptSteps(random: Random): Steps {
  const one = oneOfTwo(random)
  const [entry, consumer, stream] = [anEntry(random), one('worker'), STREAM]
  const score = String(random.between(0, 20))
  const version = String(random.between(1, 6))
  const held = { group: 'payments', entry, consumer }
  const newest = { isReversed: true, count: 1, from: random.pick(['(~', '(b']), to: '[' }
  const oldest = { isReversed: false, count: 2, from: '(', to: random.pick(['(~', '(b']) }
  const claim = { owner: one('owner'), request: random.pick(['', one('request')]) }
  const some = <T>(value: T): T | undefined => random.pick([value, undefined])
  return [
    named(
      'requeue',
      { commands: stream },
      { ...held, consumer: random.pick([undefined, consumer]), fields: ['p', 'm', 'n', score] }
    ),
    named(
      'release_command',
      { commands: stream, begun: 'hash1' },
      { ...held, member: 'field1', delivery: score, fields: ['p', 'member1'] }
    ),
    batch('begin_commands', [
      {
        keys: { commands: stream, begun: 'hash1', payment: one('pay'), counter: 'count' },
        given: { ...held, member: one('field'), version, delivery: some(score) }
      }
    ]),
    named('dead_letter_entry', { commands: stream, letters: 'dead' }, { ...held, fields: ['p', 'm'] }),
    named(
      'dead_letter',
      { commands: stream, letters: 'dead', due: one('zset'), idempotency: one('text'), reconcile: 'zset1' },
      {
        ...{ ...held, fields: ['p', 'm'], member: 'member1', result: some('[2,"r"]') },
        ...random.pick<Given>([{}, { wakeAtMs: Number(score) }, { isDamaged: true }])
      }
    ),
    named(
      'finish',
      { idempotency: one('text'), commands: stream, payment: one('pay'), due: 'zset1', reconcile: 'zset2' },
      {
        ...held,
        ...random.pick<Given>([
          {},
          { result: '[2,"r"]', version, channel: 'channel', reply: 'reply' },
          { unneeded: one('member'), version: some(version) }
        ])
      }
    ),
    named(
      'pace_reconciliations',
      { pace: 'pace' },
      {
        perSecond: 1_000_000,
        wanted: random.pick([0, 2]),
        returned: random.pick([0, 2])
      }
    ),
    named(
      'fire_due',
      { list: one('zset'), commands: stream },
      { nowMs: Number(score), max: 2, entry: '[1,%s,%s]', againAtMs: 30 }
    ),
    batch('claim_tokens', [
      { keys: { token: one('token') }, given: { merchant: one('merchant'), ...claim, leastMs: 100_000 } },
      { keys: { token: one('text') }, given: { merchant: 'm', owner: 'o', request: '', leastMs: 100_000 } },
      {
        keys: { token: one('token') },
        given: { merchant: one('merchant'), owner: one('owner'), request: '', leastMs: 100_000 }
      }
    ]),
    named('release_token', { token: one('token') }, claim),
    ['HSET', one('token'), 'merchant', one('merchant'), 'card', 'c', 'typed', 't', 'brand', 'b', 'last4', 'l'],
    named('drop_consumer', { stream }, { group: 'payments', consumer }),
    script('list_payments', ['lex1', 'lex2'], [JSON.stringify(random.pick([newest, oldest]))]),
    named(
      'accept_payment',
      {
        ...{ idempotency: one('text'), payment: one('pay'), commands: stream, pending: one('lex') },
        ...{ references: one('lex'), reconcile: 'zset1', counter: 'count' }
      },
      {
        ...{ request: '[1,0,"f"]', lifeMs: some(100_000), payment: '[1,1,"m",[]]', member: 'a', reference: 'b' },
        ...{ wakeAtMs: Number(score), fields: ['p', 'a'] }
      }
    ),
    named(
      'accept_operation',
      { idempotency: one('text'), payment: one('pay'), commands: stream, counter: 'count' },
      {
        ...{ request: '[1,0,"f"]', lifeMs: 100_000, version, mayBeItself: random.pick([true, false]) },
        fields: some(['p', 'a'])
      }
    ),
    ...commitSteps(random)
  ]
}

function commitSteps(random: Random): Step[] {
  const one = oneOfTwo(random)
  const [entry, consumer] = [anEntry(random), one('worker')]
  const score = random.between(0, 20)
  const version = String(random.between(1, 6))
  const some = <T>(value: T): T | undefined => random.pick([value, undefined])
  const waiting = { about: '[9,"r"]', occurredMs: score, waitingMax: random.between(1, 3) }
  return [
    batch('remove_payments', [
      {
        keys: {
          ...{ payment: one('pay'), status: one('lex'), references: one('lex') },
          ...{ sales: 'sales', rests: one('zset'), archived: 'archived' }
        },
        given: { version, member: one('member'), reference: 'b', sale: some('sale') }
      }
    ]),
    named(
      'commit',
      {
        ...{ payment: one('pay'), idempotency: one('text'), commands: STREAM, due: one('zset'), reconcile: 'lex3' },
        ...{ inDoubt: 'doubt', review: 'hash1', sales: 'sales', before: 'lex1', after: one('lex'), begun: 'hash1' },
        ...{ counter: 'count', endpoint: one('text'), events: 'events3', deliveries: 'deliveries' },
        undeliverable: 'given up'
      },
      {
        ...{ version, record: `[1,${Number(version) + 1},"m",[]]`, member: 'a' },
        ...{
          expiryMs: some(score),
          reconcileMs: some(score),
          doubtMs: some(score),
          reason: some('x'),
          sale: some('sale')
        },
        ...{ group: 'payments', ends: some(entry), begins: some(entry), consumer, mustBeOpen: some(true) },
        ...{ result: some('[2,"r"]'), channel: some('c'), reply: 'r' },
        ...random.pick<Given>([{}, { ...waiting, event: '[1]', lineMember: 'm', undeliverableMs: 9_999 }])
      }
    )
  ]
}

/** The scripts of the delivery: the events of two payments move from one place to another. */
export function webhookSteps(random: Random): Steps {
  const one = oneOfTwo(random)
  const [entry, events, lineMember] = [anEntry(random), one('events'), `[1,"${one('payment')}","m"]`]
  const score = random.between(0, 20)
  const some = <T>(value: T): T | undefined => random.pick([value, undefined])
  const short = `[${one('event')}]`
  const waiting = { about: '[9,"r"]', occurredMs: score, waitingMax: random.between(1, 3) }
  const [event, record] = [`[1,${score},[9,"r"],${short}]`, `[1,${short}]`]
  const failing = random.pick([undefined, undefined, '[1,1,1]', '[1,5,1,9]'])
  const given = {
    ...{ group: 'payments', entry, lineMember, merchant: 'm', event, record, occurredMs: score },
    result: random.pick(['delivered', 'waits', 'waits', 'undeliverable', 'undeliverable', 'forgotten', 'set aside']),
    ...{
      before: failing,
      failing: random.pick([failing, undefined, '[1,5,1,9]']),
      dueMs: score,
      lineDueMs: some(score)
    },
    ...{
      retry: some(`${event}*`),
      journalFromMs: 0,
      letter: ['l', 'letter']
    },
    ...{ undeliverableMax: random.between(1, 3), undeliverableFromMs: random.between(0, 6), undeliverableMs: 9_999 },
    ...{ follow: some(random.between(0, 2)), followDueByMs: score }
  }
  const lineKeys = { deliveries: STREAM, line: 'line', lines: 'lines', failing: 'failing' }
  const step = { merchant: 'm', nowMs: score, before: failing, againMs: random.between(0, 20) }
  return [
    ['RPUSH', events, event],
    ['LPOP', events],
    ['RPOP', events],
    ['LINDEX', events, '0'],
    ['ZADD', 'lines', 'LT', String(score), 'm'],
    named(
      'conclude_webhook',
      { ...lineKeys, events, journal: 'journal', undeliverable: 'given up', letters: 'dead' },
      given
    ),
    named('fire_webhooks', lineKeys, {
      ...step,
      ...random.pick([{ max: 2 }, { max: 0 }, { max: 1, trial: '[1,5,1,20]' }])
    }),
    named('replace_record', { record: 'record' }, { before: some('a'), after: 'a' }),
    named(
      'replay_webhook',
      { events, deliveries: STREAM, undeliverable: 'given up' },
      { ...waiting, event: short, lineMember, nowMs: score, listed: some(record) }
    ),
    ['ZREMRANGEBYSCORE', 'given up', '-inf', `(${score}`],
    ['ZREMRANGEBYRANK', 'given up', '0', String(random.between(-4, 1))],
    ['GET', 'failing'],
    ['ZRANGE', 'given up', '0', '9', 'WITHSCORES'],
    ['ZRANGE', 'line', '0', '5', 'WITHSCORES'],
    ['ZRANGE', 'lines', '0', '0', 'WITHSCORES'],
    ['XLEN', random.pick(['journal', 'dead'])]
  ]
}

function script(name: string, keys: readonly string[], args: readonly string[]): Step {
  return ['EVAL', loadLua(name), String(keys.length), ...keys, ...args]
}

type Given = Parameters<typeof argumentsOf>[0]
type Keys = Readonly<Record<string, string>>

function named(name: string, keys: Keys, given: Given): Step {
  return script(name, inOrder(name, keys), argumentsOf(given))
}

function batch(name: string, calls: readonly { readonly keys: Keys; readonly given: object }[]): Step {
  const keys = calls.flatMap(call => inOrder(name, call.keys))
  return script(name, keys, [JSON.stringify({ calls: calls.map(({ given }) => given) })])
}

/** The keys of a script in the order of its headers. */
function inOrder(name: string, keys: Keys): string[] {
  const names = new Set([...loadLua(name).matchAll(/^-- keys\.(\w+)/gm)].map(([, key = '']) => key))
  expect(names, name).to.have.all.keys(Object.keys(keys))
  return [...names].map(key => keys[key] ?? '')
}
