/** `vault init|status|rotate|retire`: the keys that seal card data, on the machine that holds the key files. */
import type { Command } from 'commander'
import { createSealedCards, type SealedCardRecord } from '../../redis/cards/sealed-cards.js'
import { livingConsumers } from '../../redis/commands/takeover.js'
import { allKeysFact, assertOwnKeys, recordedKeys } from '../../redis/installation/key-record.js'
import { forgetKey, recordNewKey } from '../../redis/operator/key-rotation.js'
import type { Config } from '../../runtime/config.js'
import { delay } from '../../runtime/delay.js'
import { keyIdOf, type SealedCard } from '../../vault/box.js'
import { addNextKey, type KeyFiles, type KeyLock, keyFilesIn, removeKey, useNextKey } from '../../vault/key-files.js'
import { withKeyLock } from '../../vault/key-lock.js'
import { type KeyRing, readKeyRing, withoutKey } from '../../vault/key-ring.js'
import { loadOpener, type Opener } from '../../vault/opener.js'
import { loadSealer } from '../../vault/sealer.js'
import { VaultError } from '../../vault/vault-error.js'
import { vaultDir } from '../start/environment.js'
import type { OperatorConnection } from './connection.js'
import { addInit, IF_CURRENT, idsOf, requireOwnRing } from './key-files.js'
import { type Field, listing } from './output.js'
import { addOpsOptions, askProcesses, type OpsOptions, opsAddresses } from './processes.js'
import type { Output, VerbMaker } from './verb.js'

/** Stored cards of each key that `status` opens. A wrong key opens none of them. */
const SAMPLE_COUNT = 20
/** A process looks at its key file each second. */
const NOTICED_WITHIN_MS = 5_000
const POLL_MS = 250
/** Printed in place of the key id of an unreadable box. */
const NO_BOX = '(no box)'
const NO_RECORD =
  'The data of REDIS_URL has no record of vault keys, which `payments` writes at its start: is it the right Redis? Nothing was changed.'

export function vaultCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('vault').description('The keys that seal card data.')
  addInit(noun, verb, keyFilesIn)
  verb(
    noun.command('status'),
    { does: 'Each key: its role, how many stored cards it seals, and whether it opens a sample of them.' },
    status
  )
  const rotateVerb = verb<RotateOptions>(
    noun.command('rotate'),
    {
      does: 'Add a key. Once every running `payments` has it, it becomes current, and every stored card is sealed with it.',
      change: 'can_be_undone'
    },
    rotate
  )
  addOpsOptions(rotateVerb).option(...IF_CURRENT)
  verb(
    noun.command('retire'),
    {
      does: 'Remove an old key from the key files: two days after the last rotation, if no stored card needs it.',
      subject: ['key', 'id of the key, see `vault status`'],
      change: 'for_ever'
    },
    (connection, _, keyId) => retire(connection, keyId)
  )
}

interface RotateOptions extends OpsOptions {
  readonly ifCurrent?: string
}

interface KeyUse {
  cards: number
  /** Cards of the sample. */
  tried: number
  opened: number
}

async function status({ redis, config }: OperatorConnection): Promise<Output> {
  const files = filesOf(config)
  const ring = readKeyRing(files.privateFile, 'private')
  const opener = loadOpener(files.privateFile)
  const ids = [...Object.keys(ring.keys), ...(await recordedKeys(redis, 'vault'))]
  const uses = new Map<string, KeyUse>(ids.map(id => [id, { cards: 0, tried: 0, opened: 0 }]))
  for await (const record of createSealedCards(redis).all()) {
    const keyId = keyOf(record)
    const use = uses.get(keyId) ?? { cards: 0, tried: 0, opened: 0 }
    uses.set(keyId, use)
    use.cards++
    if (use.tried >= SAMPLE_COUNT) continue
    use.tried++
    if (opened(opener, record) !== null) use.opened++
  }
  const fields: readonly Field<readonly [keyId: string, use: KeyUse]>[] = [
    ['key_id', ([keyId]) => keyId],
    ['current', ([keyId]) => keyId === ring.current, 'json'],
    ['next', ([keyId]) => keyId === ring.next, 'json'],
    ['in_ring', ([keyId]) => Object.hasOwn(ring.keys, keyId), 'json'],
    ['state', ([keyId, use]) => stateOf(ring, keyId, use)],
    ['cards', ([, { cards }]) => cards],
    ['tried', ([, { tried }]) => tried],
    ['opened', ([, { opened }]) => opened]
  ]
  const { json, text } = listing([...uses], fields, '')
  return { json: { private_file: files.privateFile, keys: json }, text }
}

function stateOf(ring: KeyRing, keyId: string, { opened, tried }: KeyUse): string {
  if (!Object.hasOwn(ring.keys, keyId)) return 'MISSING'
  if (opened < tried) return 'DOES NOT OPEN'
  if (keyId === ring.current) return 'current'
  return keyId === ring.next ? 'next, seals nothing yet' : 'opens old boxes'
}

/** Holds the lock to the end: a key must not be retired while a rotation still seals with it. */
async function rotate(connection: OperatorConnection, options: RotateOptions): Promise<Output> {
  const { redis, config } = connection
  const files = filesOf(config)
  return await withKeyLock(files, async lock => {
    const ring = readKeyRing(files.privateFile, 'private')
    const { current: before } = ring
    await requireOwnRing(redis, 'vault', ring)
    const keyId = await changeOver(connection, lock, options)
    const opener = loadOpener(files.privateFile)
    const sealer = loadSealer(files.publicFile)
    const cards = createSealedCards(redis)
    const unopened = new Map<string, number>()
    let resealed = 0
    let kept = 0
    for await (const record of cards.all()) {
      // Opened regardless of its key id: a card counts as sealed with the current key only if that key opens it.
      const card = opened(opener, record)
      if (card === null) unopened.set(keyOf(record), (unopened.get(keyOf(record)) ?? 0) + 1)
      else if (keyOf(record) === keyId) kept++
      else if (await cards.replaceBox(record, sealer.sealCard(card, contextOf(record)))) resealed++
    }
    const done = `Key ${keyId} is the current one: ${resealed} stored cards were sealed with it now, ${kept} before.`
    if (unopened.size > 0) throw new Error(`${done} ${adviceOn(unopened, files.privateFile)}`)
    return {
      json: { key_id: keyId, resealed, sealed_before: kept },
      text: [
        done,
        'Tokens of the last minutes are still sealed with the old key, and may become stored cards. Repeat this after the',
        `life of a token (15 min): vault rotate --if-current ${options.ifCurrent ?? before}. Two days later, remove the old key: vault retire.`
      ].join('\n')
    }
  })
}

/**
 * Adds the next key, and makes it the current one when every running `payments` has it; until then no box is sealed with
 * it. Each step may be repeated: an interrupted rotation continues with the same key. Resolves to the current key.
 */
async function changeOver(connection: OperatorConnection, lock: KeyLock, options: RotateOptions): Promise<string> {
  const { current, next } = await addNextKey(lock, options.ifCurrent)
  if (next === undefined) return current
  const missing = await paymentsWithout(next, connection, options)
  if (missing !== undefined) {
    throw new Error(
      `Key ${next} is in ${lock.files.privateFile} and seals nothing yet, because not every running \`payments\` has it. ${missing} Then repeat this: vault rotate --if-current ${current}.`
    )
  }
  await useNextKey(lock, { announce: keyId => recordNewKey(connection.redis, 'vault', keyId) })
  return next
}

/**
 * Asks the ops servers until each live `payments` reports the key. Resolves to undefined, or after 5 s to a sentence about
 * those that lack it.
 */
async function paymentsWithout(
  keyId: string,
  connection: OperatorConnection,
  options: OpsOptions
): Promise<string | undefined> {
  const urls = [...new Set(await opsAddresses(options, connection.config.dataDir))]
  const deadlineMs = performance.now() + NOTICED_WITHIN_MS
  for (;;) {
    const found = await findWithout(keyId, connection, urls)
    if (found === undefined || performance.now() > deadlineMs) return found
    await delay(POLL_MS)
  }
}

async function findWithout(
  keyId: string,
  { redis, config }: OperatorConnection,
  urls: readonly string[]
): Promise<string | undefined> {
  const [{ seen }, living] = await Promise.all([askProcesses(urls), livingConsumers(redis, config.takeoverAfterMs)])
  const payments = seen.filter(({ process }) => process === 'payments')
  const without = payments.filter(({ facts }) => !(facts[allKeysFact('vault')] ?? '').split(' ').includes(keyId))
  if (without.length > 0) return `${without.map(({ name }) => name).join(', ')}: bring the private file there.`
  if (payments.length >= living.size) return undefined
  return `${living.size} \`payments\` run, and ${payments.length} reported their keys: give the ops addresses of all of them (--ops, --targets).`
}

async function retire({ redis, config }: OperatorConnection, keyId: string): Promise<Output> {
  const files = filesOf(config)
  return await withKeyLock(files, async lock => {
    const ring = readKeyRing(files.privateFile, 'private')
    const isInRing = Object.hasOwn(ring.keys, keyId)
    const recorded = await recordedKeys(redis, 'vault')
    // The cards of another installation prove nothing about this key.
    if (recorded.length === 0) throw new Error(NO_RECORD)
    await assertOwnKeys(redis, 'vault', idsOf(ring))
    // A rotation that died had recorded a key that no file has.
    const isLeftOver = !isInRing && recorded.includes(keyId)
    // Throws when the ring still needs the key, before all cards are read.
    if (!isLeftOver) withoutKey(ring, keyId, Date.now())
    let cards = 0
    for await (const record of createSealedCards(redis).all()) if (keyOf(record) === keyId) cards++
    if (cards > 0) {
      throw new Error(
        `Key ${keyId} still seals ${cards} stored cards, which would be lost with it. Seal them with the current key first: vault rotate --if-current ${keyId}. Nothing was changed.`
      )
    }
    if (isInRing) await removeKey(lock, keyId, Date.now())
    await forgetKey(redis, 'vault', keyId)
    return {
      json: { key_id: keyId, retired: true },
      text: `Key ${keyId} is removed from ${files.privateFile} and ${files.publicFile}. Copy both files to the other machines. Backups of Redis from before the last rotation need the key: keep it with them, or destroy them with it.`
    }
  })
}

/** The card in a stored box; null when no key of this machine opens it. */
function opened(opener: Opener, record: SealedCardRecord): SealedCard | null {
  try {
    return opener.openCard(record.cardBox, contextOf(record))
  } catch (error) {
    if (error instanceof VaultError) return null
    throw error
  }
}

function contextOf({ merchantId, tokenId }: SealedCardRecord): { merchantId: string; subjectId: string } {
  return { merchantId, subjectId: tokenId }
}

function keyOf({ cardBox }: SealedCardRecord): string {
  try {
    return keyIdOf(cardBox)
  } catch (error) {
    if (error instanceof VaultError) return NO_BOX
    throw error
  }
}

function adviceOn(unopened: ReadonlyMap<string, number>, privateFile: string): string {
  const counts = [...unopened].map(([keyId, count]) => `${count} of ${keyId}`).join(', ')
  return `Cards that ${privateFile} does not open were left as they are: ${counts}. Either a copy of the key files was rotated on another machine, or an old file was restored. Find the private file that has the key, add its entry to "keys" here, and repeat this. The cards are not lost while that file exists.`
}

function filesOf({ vaultPrivateKeysFile, vaultPublicKeysFile, dataDir }: Config): KeyFiles {
  const own = keyFilesIn(vaultDir(dataDir))
  return {
    privateFile: vaultPrivateKeysFile || own.privateFile,
    publicFile: vaultPublicKeysFile || own.publicFile
  }
}
