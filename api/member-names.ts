/**
 * What `JSON.parse` does not tell of a JSON text: how much it has to make of it, and whether names stand twice in one
 * object. Of these it silently keeps the last one, so that of two amounts in a request an arbitrary one would be charged.
 */

/** What stands outside of the strings of a text, valid or not. */
export interface Structure {
  /** Colons: in valid JSON there is one for each member that was written. */
  readonly members: number
  /** Objects and arrays that begin. */
  readonly containers: number
}

export function structureOf(text: string): Structure {
  let members = 0
  let containers = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') isInString = !isInString
    else if (isInString && character === '\\') at += 1
    else if (!isInString && character === ':') members += 1
    else if (!isInString && (character === '{' || character === '[')) containers += 1
  }
  return { members, containers }
}

/** @param value what `JSON.parse` made of a text of this structure; nested as deeply as the stack allows */
export function hasRepeatedNames({ members }: Structure, value: unknown): boolean {
  return members > membersOf(value)
}

/** Members that are there, at every level. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner: unknown[] = Object.values(value)
  return inner.reduce((sum: number, one) => sum + membersOf(one), Array.isArray(value) ? 0 : inner.length)
}
