import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

/** A new name for each start of a process, without spaces: a restarted process must not own what the dead one held. */
export function newInstanceName(): string {
  return `${hostname()}.${process.pid}.${randomBytes(4).toString('hex')}`
}
