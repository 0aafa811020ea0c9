/** `vault status|rotate`: the keys that seal card data, on the machine that holds the key files. */
import { Command } from 'commander'
import { createSealedCards } from '../../redis/sealed-cards.js'
import type { Config } from '../../runtime/config.js'
import { keyIdOf } from '../../vault/box.js'
import { addKey, type KeyFiles, keyFilesIn } from '../../vault/key-files.js'
import { readKeyRing } from '../../vault/key-ring.js'
import { loadOpener } from '../../vault/opener.js'
import { loadSealer } from '../../vault/sealer.js'
import { vaultDir } from '../supervisor/environment.js'
import type { ActionMaker, Output } from './action.js'
import type { OperatorConnection } from './connection.js'
import { table } from './table.js'

export function vaultCommand(action: ActionMaker): Command {
  const noun = new Command('vault').description('The keys that seal card data.')

  noun
    .command('status')
    .description('Keys of the ring, and how many stored cards each of them seals.')
    .option('--json', 'print JSON')
    .action(action(status))
  noun
    .command('rotate')
    .description('Add a key, and seal every stored card with it. Nothing is stopped; may be cut off and repeated.')
    .option('--to <key>', 'id of the new key; a ring that has it as its current key gets no other one')
    .option('--json', 'print JSON')
    .action(action<{ to?: string }>((connection, { to }) => rotate(connection, to)))
  return noun
}

async function status({ redis, config }: OperatorConnection): Promise<Output> {
  const files = filesOf(config)
  const ring = readKeyRing(files.privateFile, 'private')
  const counts = new Map(Object.keys(ring.keys).map(id => [id, 0]))
  for await (const { cardBox } of createSealedCards(redis).all()) {
    const keyId = keyIdOf(cardBox)
    counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
  }
  const keys = [...counts].map(([keyId, cards]) => {
    return { key_id: keyId, current: keyId === ring.current, in_ring: Object.hasOwn(ring.keys, keyId), cards }
  })
  const rows = keys.map(({ key_id, current, in_ring, cards }) => {
    const state = current ? 'current' : 'opens old boxes'
    return [key_id, in_ring ? state : 'MISSING', String(cards)]
  })
  return { json: { private_file: files.privateFile, keys }, text: table(['KEY', 'STATE', 'STORED CARDS'], rows, '') }
}

async function rotate({ redis, config }: OperatorConnection, to: string | undefined): Promise<Output> {
  const files = filesOf(config)
  const { keyId } = addKey(files, to)
  const opener = loadOpener(files.privateFile)
  const sealer = loadSealer(files.publicFile)
  const cards = createSealedCards(redis)
  let resealed = 0
  let kept = 0
  for await (const record of cards.all()) {
    if (keyIdOf(record.cardBox) === keyId) {
      kept++
      continue
    }
    const context = { merchantId: record.merchantId, subjectId: record.tokenId }
    const box = sealer.sealCard(opener.openCard(record.cardBox, context), context)
    if (await cards.replaceBox(record, box)) resealed++
  }
  return {
    json: { key_id: keyId, resealed, sealed_before: kept },
    text: [
      `Key ${keyId} is the current one: ${resealed} stored cards were sealed with it now, ${kept} before.`,
      'Tokens of the last minutes are still sealed with the old key, and may become stored cards. Run this again after the',
      `life of a token (TOKEN_TTL_MS): vault rotate --to ${keyId}. Then vault status shows whether the old key is in use.`
    ].join('\n')
  }
}

function filesOf({ vaultPrivateKeysFile, vaultPublicKeysFile, dataDir }: Config): KeyFiles {
  const own = keyFilesIn(vaultDir(dataDir))
  return {
    privateFile: vaultPrivateKeysFile || own.privateFile,
    publicFile: vaultPublicKeysFile || own.publicFile
  }
}
