/**
 * Programs from Debian packages without installing them: downloaded and unpacked into a folder of the project. Only apt
 * can do that without root and without a change of the system.
 */
import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** The file that a shell would run for `program`, if there is one. */
export function findOnPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return folders.map(folder => join(folder, program)).find(isExecutable)
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * What `locate` finds in the unpacked packages below `<vendorDir>/<name>`. Fetches them unless an earlier call did. Before
 * the folder is in place, `complete` may change it. Rejects with a reason when that is impossible, or finds nothing.
 */
export async function obtainUnpacked<T>(
  options: { vendorDir: string; name: string; packages: readonly string[]; say: (line: string) => void },
  locate: (unpacked: string) => Promise<T | undefined> | T | undefined,
  complete: (unpacked: string) => Promise<void> = async () => undefined
): Promise<T> {
  const { vendorDir, name, packages, say } = options
  const folder = join(vendorDir, name)
  const cached = await locate(folder)
  if (cached !== undefined) return cached
  if (findOnPath('apt-get') === undefined || findOnPath('dpkg') === undefined) {
    throw new Error('this system has no package manager that can fetch programs without installing them')
  }
  say(`Fetching ${name} into ${vendorDir} (nothing is installed on the system) ...`)
  await fetchPackages({ vendorDir, name, packages }, async unpacked => {
    await complete(unpacked)
    if ((await locate(unpacked)) === undefined) throw new Error(`${packages.join(', ')}: no program that runs here`)
  })
  const fetched = await locate(folder)
  if (fetched === undefined) throw new Error(`unreachable: ${name} was found before it was moved to ${folder}`)
  return fetched
}

/**
 * Unpacks `packages`, and those of their dependencies that this system lacks, below `<vendorDir>/<name>`. `finish` may
 * complete the unpacked folder, or reject. Works in a temporary folder and renames it at the end, so that two starts at
 * once, or one that is interrupted, leave nothing incomplete.
 */
async function fetchPackages(
  { vendorDir, name, packages }: { vendorDir: string; name: string; packages: readonly string[] },
  finish: (unpacked: string) => Promise<void>
): Promise<void> {
  await mkdir(vendorDir, { recursive: true })
  const work = await mkdtemp(join(vendorDir, 'fetch-'))
  try {
    await downloadPackages(work, packages)
    for (const file of await readdir(work)) {
      if (file.endsWith('.deb')) await runToEnd('dpkg', ['-x', join(work, file), join(work, name)])
    }
    await finish(join(work, name))
    await rm(join(vendorDir, name), { recursive: true, force: true })
    await rename(join(work, name), join(vendorDir, name))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * The value of LD_LIBRARY_PATH for programs below `unpacked`: every folder that holds a library. Some packages have a
 * folder for their own libraries, which the loader finds on an installed system only.
 */
export function libraryPathOf(unpacked: string): string {
  const folders = ['usr/lib', 'lib']
    .map(folder => join(unpacked, folder))
    .filter(existsSync)
    .flatMap(folder => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(file => join(folder, file)))
    .filter(file => /\.so(\.[0-9]+)*$/.test(file))
    .map(file => dirname(file))
  return [...new Set(folders)].join(delimiter)
}

/** First with the package lists of the system; when it has none (slim images), with lists in the work folder. */
async function downloadPackages(work: string, packages: readonly string[]): Promise<void> {
  try {
    await runToEnd('apt-get', ['download', ...(await missingPackages([], packages))], {}, work)
  } catch {
    const state = join(work, 'apt')
    await mkdir(join(state, 'lists/partial'), { recursive: true })
    await mkdir(join(state, 'cache/archives/partial'), { recursive: true })
    const options = [
      `Dir::State::lists=${join(state, 'lists')}`,
      `Dir::Cache=${join(state, 'cache')}`,
      'Debug::NoLocking=1',
      'APT::Sandbox::User=root'
    ].flatMap(option => ['-o', option])
    await runToEnd('apt-get', [...options, 'update'], {}, work)
    await runToEnd('apt-get', [...options, 'download', ...(await missingPackages(options, packages))], {}, work)
  }
}

/** What `apt-get install` would add to this system: the packages and those of their dependencies that are absent. */
async function missingPackages(options: readonly string[], packages: readonly string[]): Promise<string[]> {
  const plan = await runToEnd('apt-get', [...options, '--simulate', '--no-install-recommends', 'install', ...packages])
  const added = [...plan.matchAll(/^Inst (\S+)/gm)].flatMap(match => match[1] ?? [])
  return [...new Set([...packages, ...added])]
}

/** Runs a program to its end and resolves to its output. Rejects with the last line of its errors when it fails. */
export async function runToEnd(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd?: string
): Promise<string> {
  const options = { cwd, env: { ...process.env, LC_ALL: 'C', ...env }, maxBuffer: Number.POSITIVE_INFINITY }
  const running = promisify(execFile)(file, args, options)
  running.child.stdin?.end()
  const { stdout } = await running.catch((error: Error & { code?: unknown; stderr?: string }) => {
    const lastLine = error.stderr?.trim().split('\n').at(-1) || error.message
    throw new Error(`${file} ${args.find(arg => !arg.startsWith('-')) ?? ''} failed (${error.code}): ${lastLine}`)
  })
  return stdout
}
