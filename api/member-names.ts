/**
 * Names that stand twice in one JSON object. `JSON.parse` silently keeps the last one, so that of two amounts in a
 * request an arbitrary one would be charged.
 */

/** @param text a valid JSON text @param value what `JSON.parse` made of it */
export function hasRepeatedNames(text: string, value: unknown): boolean {
  return colonsOutsideStrings(text) > membersOf(value)
}

/** In valid JSON there is one for each member that was written. */
function colonsOutsideStrings(text: string): number {
  let colons = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') isInString = !isInString
    else if (isInString && character === '\\') at += 1
    else if (!isInString && character === ':') colons += 1
  }
  return colons
}

/** Members that are there, at every level. Without recursion, since the value may be nested as deeply as it likes. */
function membersOf(value: unknown): number {
  let members = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    const inner: unknown[] = Object.values(next)
    if (!Array.isArray(next)) members += inner.length
    for (const one of inner) open.push(one)
  }
  return members
}
