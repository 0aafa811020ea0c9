import { expect } from 'chai'
import { FOLDERS, readSources, targetOf } from './sources.js'

/** Which folders a folder may import from, itself included (docs/DESIGN.md, 2). `runtime`: config, log, lifecycle. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  machines: ['machines'],
  contract: ['contract', 'machines'],
  vault: ['vault'],
  runtime: ['runtime'],
  client: ['client'],
  redis: ['redis', 'machines', 'runtime'],
  archive: ['archive', 'redis', 'machines', 'runtime'],
  api: ['api', 'archive', 'contract', 'machines', 'redis', 'vault', 'runtime'],
  workers: ['workers', 'archive', 'contract', 'machines', 'redis', 'vault', 'runtime'],
  scripts: FOLDERS.filter(folder => folder !== 'test'),
  test: FOLDERS
}

/** Packages that belong to one place, as prefixes of paths. */
const PACKAGE_PLACES: Readonly<Record<string, readonly string[]>> = {
  ioredis: ['redis/', 'scripts/bench/rivals/'],
  redlock: ['redis/'],
  pg: ['archive/', 'scripts/start/', 'test/'],
  xstate: ['machines/', 'scripts/inspector/', 'test/machines/', 'test/support/', 'test/scripts/inspector/'],
  'sodium-native': ['vault/', 'test/vault/'],
  undici: ['workers/network/', 'workers/webhooks/', 'scripts/', 'test/']
}

/** The whole world of a folder that imports nothing else. */
const ONLY_PACKAGES: Readonly<Record<string, RegExp>> = {
  machines: /^xstate(\/|$)/,
  vault: /^(node:|sodium-native$)/,
  // It is installed without any other package.
  client: /^node:/
}

/** A decision depends on its input alone: time, chance and ids come in with the event. */
const NOT_IN_MACHINES = /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|randomUUID|process\.env)/

const sources = readSources()
const folderOf = (path: string): string => path.split('/')[0] ?? ''
const isBelow = (path: string, places: readonly string[]): boolean => places.some(place => path.startsWith(place))
const edges = sources.flatMap(({ path, imports }) => imports.map(specifier => ({ path, specifier })))
const inner = edges.filter(edge => edge.specifier.startsWith('.'))

describe('import arrows', () => {
  it('point from each folder only to those that it may know', () => {
    const wrong = inner.filter(({ path, specifier }) => {
      const target = folderOf(targetOf(path, specifier))
      return FOLDERS.includes(target) && !ARROWS[folderOf(path)]?.includes(target)
    })
    expect(wrong).to.deep.equal([])
  })

  it('keep Redis, Redlock, XState, libsodium and HTTP clients in their places', () => {
    const wrong = edges.filter(({ path, specifier }) => {
      const places = PACKAGE_PLACES[specifier]
      return places !== undefined && !isBelow(path, places)
    })
    expect(wrong).to.deep.equal([])
  })

  it('leave machines with XState alone, the vault with libsodium and Node, and the client with Node', () => {
    const wrong = edges.filter(({ path, specifier }) => {
      const allowed = ONLY_PACKAGES[folderOf(path)]
      return allowed !== undefined && !specifier.startsWith('.') && !allowed.test(specifier)
    })
    expect(wrong).to.deep.equal([])
  })

  it('keep clock and chance out of machines', () => {
    const wrong = sources.filter(({ path, text }) => folderOf(path) === 'machines' && NOT_IN_MACHINES.test(text))
    expect(wrong.map(({ path }) => path)).to.deep.equal([])
  })
})
