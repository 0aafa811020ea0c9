/** What a dead letter has besides the fields of the stream entry that it was: its field `l`. */
import { required, storedValue } from '../stored-fields.js'

export interface Letter {
  readonly reason: string
  readonly deadLetteredAtMs: number
}

const storedLetter = storedValue<Letter>('dead letter', { reason: [required], deadLetteredAtMs: [required] })

/** The field that a stream entry gets as a dead letter. */
export function encodeLetter(letter: Letter): string[] {
  return ['l', storedLetter.encode(letter)]
}

/** Reads the value of that field; a letter that has none is shown all the same. */
export function decodeLetter(text: string): Letter {
  try {
    return storedLetter.decode(text)
  } catch {
    return { reason: 'no reason recorded', deadLetteredAtMs: Number.NaN }
  }
}
