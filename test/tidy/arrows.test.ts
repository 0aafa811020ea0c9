import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parseProcfile } from '../../scripts/start/procfile.js'
import { FOLDERS, readSources, type Source, targetOf } from './sources.js'

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

/** Names that only some places may use. */
const NAME_PLACES: Readonly<Record<string, readonly string[]>> = {
  'process.env': ['runtime/config.ts', 'scripts/start/', 'scripts/bench/', 'test/'],
  'fetch()': [
    'workers/network/',
    'workers/webhooks/',
    'api/test-environment/',
    'api/tokens/browser/',
    'client/',
    'scripts/',
    'test/'
  ]
}

/** Tests, and tools for developers: nothing that serves merchants. They may use development dependencies. */
const DEVELOPMENT = [
  'test/',
  'scripts/bench/',
  'scripts/inspector/',
  'scripts/package/',
  'scripts/shop/',
  'scripts/start/',
  'scripts/webhooks-listen/'
]

/** A decision depends on its input alone: time, chance and ids come in with the event. */
const NOT_IN_MACHINES = ['Date.now', 'new Date()', 'Math.random', 'performance.now', 'crypto.randomUUID', 'process.env']

/** Files that are named to Node or mocha, not imported. */
const NAMED = [
  'test/support/mocha-hooks.ts',
  'test/support/stuck-process.ts',
  'test/support/tiny-process.ts',
  'test/runner/counting-reporter.ts',
  'test/chaos/shifted-clock.ts',
  'test/containers-drill/inside.ts',
  'scripts/bench/rivals/bare-api.ts',
  'scripts/bench/rivals/bare-worker.ts',
  'scripts/bench/rivals/bullmq-api.ts',
  'scripts/bench/rivals/bullmq-worker.ts',
  'api/tokens/browser/fields.ts',
  'api/tokens/browser/frame.ts'
]

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
  Record<'scripts' | 'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
>
const client = JSON.parse(readFileSync('client/package.json', 'utf8')) as typeof manifest
const sources = readSources()
const folderOf = (path: string): string => path.split('/')[0] ?? ''
const isPackage = (specifier: string): boolean => !specifier.startsWith('.') && !specifier.startsWith('node:')
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

  it('keep the environment in runtime/config.ts, and outgoing HTTP in the places that talk to others', () => {
    const wrong = Object.entries(NAME_PLACES).flatMap(([name, places]) =>
      sources.filter(({ path, uses }) => uses.has(name) && !isBelow(path, places)).map(({ path }) => `${path}: ${name}`)
    )
    expect(wrong).to.deep.equal([])
  })

  it('keep clock and chance out of machines', () => {
    const machines = sources.filter(({ path }) => folderOf(path) === 'machines')
    const wrong = machines.flatMap(({ path, uses }) =>
      NOT_IN_MACHINES.filter(name => uses.has(name)).map(name => `${path}: ${name}`)
    )
    expect(wrong).to.deep.equal([])
  })

  it('reach every file from a process, a command or a test', () => {
    const processes = parseProcfile(readFileSync('Procfile', 'utf8')).flatMap(({ command }) => entryOf(command))
    const scripts = [manifest, client].flatMap(one => Object.values(one.scripts))
    const commands = scripts.flatMap(line => /\bbootstrap\.mjs (\S+)/.exec(line)?.[1] ?? [])
    // A page names its script in HTML.
    const isRoot = ({ path }: Source): boolean =>
      processes.includes(path) ||
      commands.includes(path.replace(/\.ts$/, '')) ||
      NAMED.includes(path) ||
      /\.test\.ts$|\.d\.ts$|\/browser\/(page|hosted)\.ts$/.test(path)
    const imported = new Set(inner.map(({ path, specifier }) => targetOf(path, specifier)))
    const dead = sources.filter(source => !isRoot(source) && !imported.has(source.path)).map(({ path }) => path)
    expect(dead).to.deep.equal([])
  })

  it('bring what a file exports to some other file', () => {
    const taken = new Set(
      sources.flatMap(({ path, importedNames }) =>
        importedNames.map(({ from, name }) => `${from.startsWith('.') ? targetOf(path, from) : from} ${name}`)
      )
    )
    const unused = sources
      .filter(({ path }) => !NAMED.includes(path) && !taken.has(`${path} *`))
      .flatMap(({ path, exports }) =>
        exports.filter(name => !taken.has(`${path} ${name}`)).map(name => `${path}: ${name}`)
      )
    expect(sources.flatMap(({ exports }) => exports).length).to.be.greaterThan(500)
    expect(unused).to.deep.equal([])
  })

  it('name only packages that package.json names', () => {
    const runtime = Object.keys(manifest.dependencies)
    const all = [...runtime, ...Object.keys(manifest.devDependencies)]
    const wrong = edges.filter(({ path, specifier }) => {
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
      const isDevelopment = isBelow(path, DEVELOPMENT)
      return isPackage(specifier) && !(isDevelopment ? all : runtime).includes(name)
    })
    expect(wrong).to.deep.equal([])
  })
})

/** `dist/api/api.js` in a command comes from `api/api.ts`. */
function entryOf(command: string): string[] {
  const entry = /\bdist\/(\S+)\.js\b/.exec(command)?.[1]
  return entry === undefined ? [] : [`${entry}.ts`]
}
