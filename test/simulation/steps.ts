/** What the steps of the model of Redis have in common. An entry of a stream is `#<number>`: the one that came up as that. */
import type { Random } from './random.js'

/** A command with its arguments; `EVAL` with the text of a script. */
export type Step = readonly string[]

export type Steps = readonly [Step, ...Step[]]

/** One stream only: two could have entries of the same moment, and with it of the same id. */
export const STREAM = 'stream'

export function oneOfTwo(random: Random): (name: string) => string {
  return name => `${name}${random.between(1, 2)}`
}

export function anEntry(random: Random): string {
  return `#${random.between(0, 400)}`
}
