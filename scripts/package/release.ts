/**
 * A release: the built product without developer tools, its packages, and the files for operators. It needs Node and
 * nothing else.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { build } from 'esbuild'
import { messageOf } from '../../runtime/message-of.js'
import { runToEnd } from '../start/apt-packages.js'
import { parseProcfile } from '../start/procfile.js'

const OPERATOR = 'dist/scripts/operator/operator.js'
/** Copied as they are. The processes read scripts and users of Redis, and migrations of the archive. */
const FOLDERS = [
  'deploy',
  'dist/hosted-fields',
  'dist/reference',
  'dist/node_modules',
  'ops',
  'redis',
  'archive',
  'docs'
]
const FILES = ['Procfile', 'README.md', 'CHANGELOG.md', 'LICENSE']
const NOT_SHIPPED = /\.(ts|mts|cts|map|svg|png)$/
/** Native code of packages for systems that no release runs on. */
const FOREIGN_PREBUILD = new RegExp(`/prebuilds/(?!linux-(x64|arm64)|${process.platform}-${process.arch})[^/]+$`)
const OPERATOR_SCRIPT = `#!/bin/sh
# The operator's command line of this release; \`operator --help\` explains it.
exec node "$(dirname "$(readlink -f "$0")")/../${OPERATOR}" "$@"
`

/** What a release takes from package.json. */
interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

interface LockFile {
  readonly packages: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>> | undefined>>>>
}

export interface Release {
  readonly version: string
  readonly folder: string
  readonly tarball: string
  readonly fileCount: number
  readonly sizeBytes: number
}

/** Makes them in `outDir` from the build of the checkout `root`. On Linux the same commit gives the same bytes. */
export async function makeRelease({ root, outDir }: { root: string; outDir: string }): Promise<Release> {
  const manifest: Manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const version = await releaseVersion(root, manifest)
  const name = `${manifest.name}-${version}`
  const folder = join(outDir, name)
  await rm(folder, { recursive: true, force: true })
  const native = Object.keys(manifest.dependencies).filter(it => !existsSync(join(root, 'dist/node_modules', it)))
  const paths = [...FOLDERS, ...FILES, ...(await productFiles(root)), ...(await packageFolders(root, native))]
  for (const path of paths) {
    const filter = (from: string): boolean => !NOT_SHIPPED.test(from) && !FOREIGN_PREBUILD.test(from)
    await cp(join(root, path), join(folder, path), { recursive: true, filter, dereference: true })
  }
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin/operator'), OPERATOR_SCRIPT)
  // The image is built from a release, too: only the secrets of compose-setup.sh stay out of it.
  await writeFile(join(folder, 'deploy/Dockerfile.dockerignore'), '.data\n')
  await writeFile(join(folder, 'package.json'), json(shippedManifest(manifest, version)))
  await writeFile(join(folder, 'sbom.cdx.json'), json(await billOfMaterials(root, manifest, version)))
  const files = await filesBelow(folder)
  for (const file of files) await chmod(join(folder, file), file.startsWith('bin/') ? 0o755 : 0o644)
  const sums = await Promise.all(files.map(async file => `${await sha256(join(folder, file))}  ${file}\n`))
  await writeFile(join(folder, 'SHA256SUMS'), sums.join(''))
  const tarball = await pack(outDir, name, await commitTime(root))
  const sizes = await Promise.all(files.map(async file => (await stat(join(folder, file))).size))
  return { version, folder, tarball, fileCount: files.length, sizeBytes: sizes.reduce((sum, size) => sum + size, 0) }
}

/** Rejects where the checkout has no history: an unknown version must not be deployed. */
async function releaseVersion(root: string, { version }: Pick<Manifest, 'version'>): Promise<string> {
  const git = (...args: string[]): Promise<string> =>
    runToEnd('git', args, {}, root).catch((error: unknown) => {
      throw new Error(`The version of ${root} is not known, because git has no commit of it: ${messageOf(error)}`)
    })
  const described = await git('describe', '--tags', '--always', '--abbrev=12', '--dirty', '--match=v[0-9]*')
  return versionOf(described.trim(), version, Number(await git('rev-list', '--count', 'HEAD')))
}

/**
 * From what `git describe` prints: `v1.2.0` is 1.2.0. A commit after it comes before the next release, and after each
 * commit before: the third is 1.2.1-3.g8a7b…. Without any tag the commits are counted from the first one, and the next release
 * is that of package.json. Changes that are not committed add `.dirty`. So versions have an order, that of semver.org.
 */
export function versionOf(described: string, packageVersion: string, commitCount: number): string {
  const [, clean = '', dirty = ''] = /^(.*?)(-dirty)?$/.exec(described) ?? []
  const suffix = dirty === '' ? '' : '.dirty'
  const [, tag, count, commit] = /^v(.+)-(\d+)-(g[0-9a-f]+)$/.exec(clean) ?? []
  if (tag !== undefined) return `${nextAfter(tag)}${count}.${commit}${suffix}`
  if (!clean.startsWith('v')) return `${packageVersion}-${commitCount}.g${clean}${suffix}`
  return dirty === '' ? clean.slice(1) : `${nextAfter(clean.slice(1))}0${suffix}`
}

/** What all versions between a release and the next one begin with. */
function nextAfter(release: string): string {
  if (release.includes('-')) return `${release}.`
  const [major = '0', minor = '0', patch = '0'] = release.split('.')
  return `${major}.${minor}.${Number(patch) + 1}-`
}

/** What the processes of the Procfile and the operator's command line import of ours, as paths in the checkout. */
async function productFiles(root: string): Promise<string[]> {
  const procfile = await readFile(join(root, 'Procfile'), 'utf8')
  const entries = parseProcfile(procfile).map(({ command }) => command.split(' ').at(-1) ?? '')
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...entries, OPERATOR],
    outdir: 'dist/unused',
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false
  })
  return Object.keys(metafile.inputs)
}

/** The folders of `names` and of all that they depend on, such as `node_modules/ms`. Rejects where one is not installed. */
async function packageFolders(root: string, names: readonly string[]): Promise<string[]> {
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

function shippedManifest({ name, description, license, engines }: Manifest, version: string): object {
  return { name, version, description, private: true, license, type: 'module', engines }
}

/** CycloneDX, of the packages that the product needs; without what would differ between two runs. */
async function billOfMaterials(root: string, manifest: Manifest, version: string): Promise<object> {
  const { name } = manifest
  const args = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application']
  const text = await runToEnd('npm', [...args, '--offline'], {}, root)
  const own = text.replaceAll(`${name}@${manifest.version}`, `${name}@${version}`)
  const { serialNumber: _, metadata, ...bill } = JSON.parse(own)
  const { timestamp: __, component, ...about } = metadata
  return { ...bill, metadata: { ...about, component: { ...component, name, version } } }
}

/** Packs the folder `name` of `outDir`; the checksum stands beside the tarball, as `sha256sum -c` reads it. */
async function pack(outDir: string, name: string, mtime: string): Promise<string> {
  const tarball = join(outDir, `${name}.tar.gz`)
  const isGnu = process.platform === 'linux'
  const order = isGnu ? ['--owner=0', '--group=0', '--numeric-owner', '--sort=name', `--mtime=${mtime}`] : []
  await runToEnd('tar', ['-c', '-z', '-f', tarball, ...order, '-C', outDir, name])
  await writeFile(`${tarball}.sha256`, `${await sha256(tarball)}  ${basename(tarball)}\n`)
  return tarball
}

async function commitTime(root: string): Promise<string> {
  return (await runToEnd('git', ['log', '-1', '--format=%cI'], {}, root)).trim()
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile())
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name))).sort()
}

async function sha256(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
