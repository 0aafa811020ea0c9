/** Readers of option values that only tests and drills take. Each throws what it expects. */
import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { messageOf } from '../../runtime/message-of.js'
import type { ValueReader } from '../../scripts/command-line/values.js'

/** A number, such as 0.5, from `min` to `max`. */
export function decimalNumber(min: number, max: number): ValueReader<number> {
  return text => {
    const value = /^\d{1,16}(\.\d{1,16})?$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(`Give a number from ${min} to ${max}.`)
  }
}

/** A file to append to, created if missing. Fails before the work begins when it can't be written. */
export function logFile(text: string): string {
  try {
    closeSync(openSync(text, 'a'))
    return resolve(text)
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be written: ${messageOf(error)}.`)
  }
}
