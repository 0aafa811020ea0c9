/** Readers of option values. Each throws what it expects. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { messageOf } from '../../runtime/message-of.js'

/** Reads the text of one option; throws `InvalidArgumentError`, which becomes the sentence that people see. */
export type ValueReader<T> = (text: string) => T

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): ValueReader<number> {
  return text => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
    throw new InvalidArgumentError(`Give a whole number ${range}.`)
  }
}

/** Several values of `read`, with commas between them. */
export function listOf<T>(read: ValueReader<T>): ValueReader<T[]> {
  return text =>
    text.split(',').map(part => {
      try {
        return read(part)
      } catch (error) {
        throw new InvalidArgumentError(`"${part}" is wrong. ${messageOf(error)} Several have commas between them.`)
      }
    })
}

/** One of `names`. */
export function oneOf<Name extends string>(names: readonly Name[]): ValueReader<Name> {
  return text => {
    const found = names.find(name => name === text)
    if (found !== undefined) return found
    throw new InvalidArgumentError(`Known: ${names.join(', ')}.`)
  }
}

/** Text on one line, up to `lengthMax` characters. */
export function oneLine(lengthMax: number): ValueReader<string> {
  return text => {
    const trimmed = text.trim()
    if (trimmed !== '' && [...trimmed].length <= lengthMax && !/\p{Cc}/u.test(trimmed)) return trimmed
    throw new InvalidArgumentError(`Give 1 to ${lengthMax} characters on one line.`)
  }
}

/** A moment, in ms. */
export function time(text: string): number {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new InvalidArgumentError('Give a time such as 2026-01-31T09:00:00Z.')
  return ms
}

/** A TCP port; 0 takes a free one. */
export const port: ValueReader<number> = wholeNumber(0, 65_535)

/** A folder that is there; absolute from here on. */
export function folder(text: string): string {
  if (statSync(text, { throwIfNoEntry: false })?.isDirectory()) return resolve(text)
  throw new InvalidArgumentError('There is no such folder.')
}
