/** The output of all children on one stream: whole lines, each with the name of its process in front. */

const COLOURS = [36, 33, 32, 35, 34, 96, 93, 92, 95, 94]

/** Takes the text of one child as it comes, in pieces of any size. */
export type LineSink = (text: string) => void

/**
 * Returns a function that makes a sink per process. `names` sets the width of the column and the colours; colours are
 * for terminals only (`isColoured`).
 */
export function prefixedOutput(
  names: readonly string[],
  isColoured: boolean,
  write: (text: string) => void
): (name: string) => LineSink {
  const width = Math.max(0, ...names.map(name => name.length))
  return name => {
    const label = `${name.padEnd(width)} | `
    const colour = COLOURS[Math.max(0, names.indexOf(name)) % COLOURS.length]
    const prefix = isColoured ? `\u001b[${colour}m${label}\u001b[0m` : label
    let rest = ''
    return text => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      if (lines.length > 0) write(lines.map(line => `${prefix}${line}\n`).join(''))
    }
  }
}
