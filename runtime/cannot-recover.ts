/** A state that the process does not leave by itself. Thrown where nothing catches it, it ends the process (lifecycle.ts). */
export class CannotRecover extends Error {}
