// Runs one of the project's commands from any state of the checkout: installs and builds first when something is
// missing or older than its source. Plain JavaScript, because it runs before the compiler is installed.
//
//   node scripts/bootstrap.mjs COMMAND [arguments]     COMMAND is the path of a source without `.ts` (package.json has
//                                                      all of them); scripts/build builds in any case
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = resolve(import.meta.dirname, '..')
const [command, ...rest] = process.argv.slice(2)
const SOURCES = [
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
].filter(exists)
// Code in folders named browser/ runs in browsers, and is compiled against what they know.
const PROJECTS = ['tsconfig.json', 'tsconfig.browser.json', 'client/tsconfig.json']
// Written after a build without errors, with the names of the sources: a deleted source makes the build old as well. Its time
// is that of the beginning, so that a source which changed meanwhile is built again. The compiler writes its own files in
// spite of errors.
const STAMP = 'dist/.built'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Node ${process.versions.node} is too old. Install Node 20.19 or newer, then run this command again.`)
}
if (modifiedMs('node_modules/.package-lock.json') < modifiedMs('package-lock.json')) {
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
  // --include=dev: the compiler is one of the development dependencies, and NODE_ENV=production would leave it out.
  await step('Installing dependencies', [...npm, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
}
const isBuildAsked = command === 'scripts/build' && rest.length === 0
const sources = sourceFiles()
if (isBuildAsked || !isBuilt(sources)) {
  const begun = new Date()
  removeOrphans()
  // The compiler writes in spite of errors, and `npm run docs` makes types that the sources may still lack.
  const isDocs = command === 'scripts/docs/docs'
  const compiler = [process.execPath, 'node_modules/typescript/bin/tsc', '-b', ...PROJECTS]
  const isWhole = await step('Building', compiler, isDocs)
  await step('Bundling', [process.execPath, 'scripts/bundle.mjs'])
  await step('Bundling dependencies', [process.execPath, 'scripts/bundle-dependencies.mjs'])
  mkdirSync(join(root, 'dist'), { recursive: true })
  if (isWhole) {
    writeFileSync(join(root, STAMP), sources.join('\n'))
    utimesSync(join(root, STAMP), begun, begun)
  }
}
const entry = join(root, `dist/${command}.js`)
if (!existsSync(entry)) fail(`There is no command "${command}": ${command}.ts does not exist.`)
process.argv = [process.argv[0], entry, ...rest]
await import(pathToFileURL(entry).href)

// Not spawnSync: a signal must reach the child and end this process while the child works.
async function step(title, [file, ...args], mayFail = false) {
  process.stderr.write(`${title} ...\n`)
  const child = spawn(file, args, { cwd: root, stdio: ['ignore', 2, 2] })
  const passOn = signal => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, passOn)
  const problem = await new Promise(done => {
    child.once('error', error => done(error.message))
    child.once('exit', (code, signal) => done(code === 0 ? undefined : `ended by ${signal ?? `exit code ${code}`}`))
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, passOn)
  if (problem !== undefined && !mayFail) fail(`${title} failed (${problem}). See the lines above; nothing was started.`)
  return problem === undefined
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function exists(path) {
  return existsSync(join(root, path))
}

function modifiedMs(path) {
  return exists(path) ? statSync(join(root, path)).mtimeMs : 0
}

// Not the times of folders: `npm pack` of the client makes one among the sources, and builds nothing here.
function isBuilt(paths) {
  const builtMs = modifiedMs(STAMP)
  const isSame = builtMs > 0 && readFileSync(join(root, STAMP), 'utf8') === paths.join('\n')
  return isSame && paths.every(path => modifiedMs(path) <= builtMs)
}

function sourceFiles() {
  const files = SOURCES.flatMap(filesBelow).filter(path => /\.(ts|mjs|css|html)$/.test(path))
  const documents = readdirSync(join(root, 'docs')).filter(name => /^openapi.*\.json$/.test(name))
  return [...PROJECTS, 'package-lock.json', ...documents.map(name => `docs/${name}`), ...files].filter(exists).sort()
}

// Mocha and imports would still find the output of a deleted source.
function removeOrphans() {
  const built = SOURCES.map(folder => `dist/${folder}`).filter(exists)
  for (const path of built.flatMap(filesBelow)) {
    const source = relative('dist', path).replace(/\.js(\.map)?$/, '.ts')
    if (/\.js(\.map)?$/.test(path) && !exists(source)) rmSync(join(root, path))
  }
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map(name => join(folder, name))
    .filter(path => !path.startsWith('client/dist'))
}
