/**
 * Text of strangers for a terminal or a log. C1 controls and escape sequences command a terminal, and marks of direction
 * reorder what it shows.
 */
const HIDDEN = /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** The same text with each such character as `\uXXXX`, which JSON reads as the character. Line breaks and tabs stay. */
export function escapeControlCharacters(text: string): string {
  return text.replace(HIDDEN, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
