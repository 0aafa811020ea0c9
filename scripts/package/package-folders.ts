/** Which folders of node_modules packages need to run, from the lock file. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

interface LockFile {
  readonly packages: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>> | undefined>>>>
}

/** The folders of `names` and of all that they depend on, such as `node_modules/ms`. Rejects where one is not installed. */
export async function packageFolders(root: string, names: readonly string[]): Promise<string[]> {
  const { packages }: LockFile = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const found = new Set<string>()
  const add = (name: string, from: string, isOptional: boolean): void => {
    const path = [...placesFor(name, from)].find(place => place in packages && existsSync(join(root, place)))
    if (path === undefined && isOptional) return
    if (path === undefined) throw new Error(`${name} is not installed: run \`npm ci\`, then this command again.`)
    if (found.has(path)) return
    found.add(path)
    const { dependencies = {}, peerDependencies = {}, optionalDependencies = {} } = packages[path] ?? {}
    for (const dependency of Object.keys(dependencies)) add(dependency, path, false)
    for (const dependency of Object.keys({ ...peerDependencies, ...optionalDependencies })) add(dependency, path, true)
  }
  for (const name of names) add(name, '', false)
  return [...found].sort()
}

/** Where Node looks for a package, nearest first. */
function* placesFor(name: string, from: string): Generator<string> {
  for (let folder = from; folder !== ''; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/'))))
    yield `${folder}/node_modules/${name}`
  yield `node_modules/${name}`
}
