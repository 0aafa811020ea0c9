/**
 * Pages of docs/ whose prose is written by hand, and whose tables are made from the code.
 *
 * `<!-- made: routes -->` begins a made part, `<!-- end -->` ends it.
 */
import { readFileSync } from 'node:fs'

export interface Page {
  /** Relative to the checkout. */
  readonly path: string
  readonly content: string
}

const PART = /<!-- made: (\S+) -->\n.*?<!-- end -->/gs

/** The page with its parts as they must be. Throws when it lacks a part, or asks for an unknown one. */
export function filledPage(path: string, parts: Readonly<Record<string, string>>): Page {
  const unused = new Set(Object.keys(parts))
  const content = readFileSync(path, 'utf8').replace(PART, (_, name: string) => {
    const made = parts[name]
    if (made === undefined) throw new Error(`${path} asks for a part "${name}", which does not exist.`)
    unused.delete(name)
    return `<!-- made: ${name} -->\n\n${made}\n\n<!-- end -->`
  })
  if (unused.size > 0) throw new Error(`${path} has no place for ${[...unused].join(', ')}.`)
  return { path, content }
}

/** A table of Markdown, not aligned: a changed cell changes one line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** The cells of a row, of which the first may be that of the row before, too. */
export type Row = readonly [first: string, ...others: string[]]

/** The first cell once for the rows that follow each other. */
export function withoutRepeats(rows: readonly Row[]): string[][] {
  return rows.map(([first, ...cells], at) => [first === rows[at - 1]?.[0] ? '' : first, ...cells])
}
