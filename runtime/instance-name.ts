/** Names for the lives of processes. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

/** New for every life of a process: one that is started again must not inherit what the dead one held. Without spaces. */
export function newInstanceName(): string {
  return `${hostname()}.${process.pid}.${randomBytes(4).toString('hex')}`
}
