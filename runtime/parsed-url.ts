/**
 * The URL that a text is; null: it is none. Not by `URL.canParse`: once it is compiled, after some thousand calls, Node 20 and 22
 * deny with it what has a letter between U+0080 and U+00FF.
 */
export function parsedUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
