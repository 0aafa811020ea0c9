/** The form of a command in its stream entry. */
import type { CardSource, Command } from '../../machines/commands.js'
import type { ReportedChange } from '../../machines/model.js'
import type { Buyer } from '../../machines/network.js'
import { DamagedValue, type Format, numbered, required, storedList } from '../stored-fields.js'

/** In the order of their numbers: new ones go to the end. */
export const commandKinds = [
  'create',
  'capture',
  'cancel',
  'wake',
  'network_notification',
  'resolve_review',
  'conclude_operation',
  'erase_buyer'
] as const satisfies readonly Command['kind'][]

/** The fields of all kinds; each kind has some of them. */
interface CommandParts {
  readonly kind: Command['kind']
  readonly amountCents: number | null
  readonly source: CardSource | null
  readonly buyer: Buyer | null
  readonly authoriseByMs: number | null
  readonly reported: ReportedChange | null
  readonly isBooked: boolean | null
}

const NO_PARTS = {
  amountCents: null,
  source: null,
  buyer: null,
  authoriseByMs: null,
  reported: null,
  isBooked: null
} as const

const storedAddress = storedList<Buyer['address']>({
  zipCode: [required],
  street: [required],
  number: [required],
  complement: [null],
  district: [required],
  city: [required],
  state: [required]
})

const storedBuyer = storedList<Buyer>({
  name: [required],
  email: [required],
  document: [required],
  phone: [required],
  address: [required, storedAddress]
})

const storedSource: Format<CardSource, unknown[]> = {
  encode(source) {
    if (source.type === 'token') return [0, source.tokenId]
    const { hasCvv, cardId, cvvTokenId } = source
    // A version that does not know the token of a CVV finds no CVV, and sends nothing.
    return [hasCvv ? 1 : 2, cardId, ...(cvvTokenId === undefined ? [] : [cvvTokenId])]
  },
  decode([type, id, cvvTokenId]) {
    if (typeof id === 'string' && type === 0) return { type: 'token', tokenId: id }
    if (typeof id === 'string' && (type === 1 || type === 2)) {
      return {
        type: 'card',
        cardId: id,
        hasCvv: type === 1,
        ...(typeof cvvTokenId === 'string' && { cvvTokenId })
      }
    }
    throw new DamagedValue('A stored command names no card.')
  }
}

const yesOrNo: Format<boolean, number> = { encode: is => (is ? 1 : 2), decode: stored => stored === 1 }

const commandParts = storedList<CommandParts>({
  kind: ['create', numbered(commandKinds)],
  amountCents: [null],
  source: [null, storedSource],
  buyer: [null, storedBuyer],
  authoriseByMs: [null],
  reported: [null],
  isBooked: [null, yesOrNo]
})

/** Never an empty list: a `create` has a source. A kind that this version does not know is one of another version. */
export const storedCommand: Format<Command, unknown[]> = {
  encode: command => commandParts.encode({ ...NO_PARTS, ...command }),
  decode: stored => commandOf(commandParts.decode(stored))
}

function commandOf({ kind, amountCents, source, buyer, authoriseByMs, reported, isBooked }: CommandParts): Command {
  switch (kind) {
    case 'create':
      return { kind, source: given(source), buyer: given(buyer), authoriseByMs: given(authoriseByMs) }
    case 'capture':
    case 'cancel':
      return { kind, amountCents }
    case 'network_notification':
      return { kind, reported: given(reported) }
    case 'conclude_operation':
      return { kind, isBooked: given(isBooked) }
    case 'wake':
    case 'resolve_review':
    case 'erase_buyer':
      return { kind }
  }
}

function given<Value>(value: Value | null): Value {
  if (value === null) throw new DamagedValue('A stored command lacks what its kind needs.')
  return value
}
