/** What the append-only file of a stopped or running Redis holds. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The names of all commands that stand between MULTI and EXEC, such as `SET` or `XGROUP SETID`. `dir`: of the server. */
export async function namesInBlocks(dir: string): Promise<Set<string>> {
  const folder = join(dir, 'appendonlydir')
  const files = (await readdir(folder)).filter(file => file.endsWith('.incr.aof'))
  const names = new Set<string>()
  let isInside = false
  for (const file of files.sort()) {
    for (const [name = '', sub = ''] of commandsIn(await readFile(join(folder, file)))) {
      const upper = name.toUpperCase()
      if (upper === 'EXEC') isInside = false
      if (isInside) names.add(upper === 'XGROUP' ? `${upper} ${sub.toUpperCase()}` : upper)
      if (upper === 'MULTI') isInside = true
    }
  }
  return names
}

/** The first two words of each command. */
function* commandsIn(file: Buffer): Generator<string[]> {
  let at = 0
  const line = (): string => {
    const end = file.indexOf('\r\n', at)
    const text = file.toString('latin1', at, end)
    at = end + 2
    return text
  }
  while (at < file.length) {
    const count = Number(line().slice(1))
    const words: string[] = []
    for (let word = 0; word < count; word++) {
      const length = Number(line().slice(1))
      if (word < 2) words.push(file.toString('latin1', at, at + length))
      at += length + 2
    }
    yield words
  }
}
