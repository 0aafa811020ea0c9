/** What the tidy tests know about a source file: its text and what it imports. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Source {
  /** Relative to the checkout, with forward slashes. */
  readonly path: string
  readonly text: string
  /** As written: `./x.js`, `node:fs`, `koa`. */
  readonly imports: readonly string[]
}

export const FOLDERS = [
  'api',
  'workers',
  'machines',
  'contract',
  'redis',
  'archive',
  'vault',
  'runtime',
  'client',
  'scripts',
  'test'
]

const IMPORT = /^(?:import|export|\}).* from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm

/** Every TypeScript file of the project. */
export function readSources(): Source[] {
  return FOLDERS.flatMap(folder => filesBelow(folder, '.ts')).map(path => {
    const text = readFileSync(path, 'utf8')
    return { path, text, imports: [...text.matchAll(IMPORT)].map(match => match.slice(1).find(Boolean) ?? '') }
  })
}

/** Paths of the files below `folder` whose names end in `ending`, without what a build makes; none when the folder does not exist. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith(ending) && !/(^|[\\/])dist[\\/]/.test(name))
    .map(name => join(folder, name).replaceAll('\\', '/'))
    .sort()
}

/** The path of the source that a relative import of `path` means. */
export function targetOf(path: string, specifier: string): string {
  return join(dirname(path), specifier).replaceAll('\\', '/').replace(/\.js$/, '.ts')
}
