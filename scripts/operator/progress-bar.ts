/** How far a long command is, for a line at the terminal. */

const WIDTH = 30

/** `share` from 0 to 1; `text` follows the figure. */
export function progressBar(share: number, text: string): string {
  const done = Math.round(share * WIDTH)
  return `[${'#'.repeat(done)}${'.'.repeat(WIDTH - done)}] ${Math.floor(share * 100)} %, ${text}`
}
