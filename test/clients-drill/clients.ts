/** The generators, at their defaults: how each makes a client, how that compiles, and how its story is run. */
import { copyFile, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fetching, run } from './run.js'
import { type SampleLanguage, sampleFiles, sampleOf } from './samples.js'
import { type Tools, versions } from './tools.js'

export interface Workplace {
  /** The checkout, and the folder in which a client is made. */
  readonly root: string
  readonly folder: string
  readonly tools: Tools
}

/** A client in one language. Each step rejects with what went wrong; with `NotAvailable` where nothing was tried. */
export interface Client {
  readonly name: string
  readonly version: string
  /** Fetches the tools. */
  prepare(place: Workplace): Promise<unknown>
  generate(place: Workplace): Promise<void>
  /** Fetches the packages that the generated client names. */
  compile(place: Workplace): Promise<void>
  story(place: Workplace, env: Readonly<Record<string, string>>): Promise<void>
}

const document = ({ root }: Workplace, name = 'openapi-3.0.json'): string => join(root, 'docs', name)

/** Copies the story, and the signature check of client/samples/, into the generated client. */
async function addStory(
  { root, folder }: Workplace,
  from: string,
  to: string,
  language: SampleLanguage | null
): Promise<void> {
  await mkdir(dirname(join(folder, to)), { recursive: true })
  await copyFile(join(root, 'test/clients-drill', from), join(folder, to))
  if (language === null) return
  const file = join(folder, dirname(to), sampleFiles[language].signature)
  await writeFile(file, sampleOf(root, 'signature', language))
}

function openapiGenerator(language: string, steps: Pick<Client, 'prepare' | 'compile' | 'story'>): Client {
  const { prepare } = steps
  return {
    ...steps,
    name: `openapi-generator ${language}`,
    version: versions.openapiGenerator,
    prepare: place => Promise.all([place.tools.openapiGenerator(), prepare(place)]),
    async generate(place) {
      const jar = await place.tools.openapiGenerator()
      await run('java', ['-jar', jar, 'generate', '-i', document(place), '-g', language, '-o', place.folder])
    }
  }
}

const go = openapiGenerator('go', {
  prepare: ({ tools }) => tools.go(),
  async compile(place) {
    await addStory(place, 'go/story.go', 'story/story.go', 'go')
    await fetching('go', ['mod', 'tidy'], { cwd: place.folder })
    await run('go', ['build', '-o', 'story.bin', './story'], { cwd: place.folder })
  },
  story: async ({ folder }, env) => void (await run(join(folder, 'story.bin'), [], { env }))
})

const java = openapiGenerator('java', {
  prepare: async () => undefined,
  async compile(place) {
    const { folder } = place
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath'
    await fetching('mvn', ['-q', '-B', goal, '-Dmdep.outputFile=classpath.txt'], { cwd: folder })
    const { stdout } = await run('find', ['src/main/java', '-name', '*.java'], { cwd: folder })
    const classes = (await readFile(join(folder, 'classpath.txt'), 'utf8')).trim()
    const client = ['-nowarn', '-d', 'target/classes', '-cp', classes, ...stdout.trim().split('\n')]
    await run('javac', client, { cwd: folder })
    await addStory(place, 'java/Story.java', 'story/Story.java', 'java')
    const sources = ['story/Story.java', 'story/Signature.java']
    await run('javac', ['-d', 'story', '-cp', await javaClasses(folder), ...sources], { cwd: folder })
  },
  async story({ folder }, env) {
    await run('java', ['-cp', `${await javaClasses(folder)}:story`, 'Story'], { cwd: folder, env })
  }
})

async function javaClasses(folder: string): Promise<string> {
  return `target/classes:${(await readFile(join(folder, 'classpath.txt'), 'utf8')).trim()}`
}

const python = openapiGenerator('python', {
  prepare: ({ tools }) => tools.python('openapi-generator'),
  async compile(place) {
    await addStory(place, 'python/story.py', 'story.py', 'python')
    const bin = join(await place.tools.python('openapi-generator'), 'bin')
    await fetching(join(bin, 'pip'), ['install', '-q', '-r', 'requirements.txt'], { cwd: place.folder })
    await run(join(bin, 'python'), ['-c', 'import openapi_client; openapi_client.WebhooksApi'], { cwd: place.folder })
  },
  async story({ folder, tools }, env) {
    await run(join(await tools.python('openapi-generator'), 'bin/python'), ['story.py'], { cwd: folder, env })
  }
})

const php = openapiGenerator('php', {
  prepare: ({ tools }) => tools.php(),
  async compile(place) {
    await addStory(place, 'php/story.php', 'story.php', 'php')
    await addStory(place, 'php/autoload.php', 'autoload.php', null)
    const { command, env } = await place.tools.php()
    const [file = '', ...args] = command
    const load = `require 'autoload.php'; foreach (glob('lib/{*,*/*}.php', GLOB_BRACE) as $file) require_once $file;`
    await run(file, [...args, '-r', load], { cwd: place.folder, env })
  },
  async story({ folder, tools }, env) {
    const { command, env: own } = await tools.php()
    const [file = '', ...args] = command
    const { stdout } = await run(file, [...args, 'story.php'], { cwd: folder, env: { ...env, ...own } })
    if (!stdout.endsWith('done\n')) throw new Error(stdout.trim().split('\n').slice(-4).join('\n'))
  }
})

const rust = openapiGenerator('rust', {
  prepare: ({ tools }) => tools.rust(),
  async compile(place) {
    await addStory(place, 'rust/story.rs', 'src/bin/story.rs', null)
    const env = { CARGO_TARGET_DIR: join(place.tools.folder, 'rust-target') }
    await fetching('cargo', ['add', '-q', 'tokio', '--features', 'macros,rt,time'], { cwd: place.folder })
    await fetching('cargo', ['fetch', '-q'], { cwd: place.folder })
    await run('cargo', ['build', '-q', '--offline'], { cwd: place.folder, env })
  },
  story: async ({ tools }, env) => void (await run(join(tools.folder, 'rust-target/debug/story'), [], { env }))
})

const oapiCodegen: Client = {
  name: 'oapi-codegen',
  version: versions.oapiCodegen,
  prepare: ({ tools }) => tools.oapiCodegen(),
  async generate(place) {
    const program = await place.tools.oapiCodegen()
    await mkdir(join(place.folder, 'client'))
    await run(program, ['-package', 'client', '-o', 'client/client.go', document(place)], { cwd: place.folder })
  },
  async compile(place) {
    await addStory(place, 'oapi-codegen/story.go', 'story.go', 'go')
    await run('go', ['mod', 'init', 'drill'], { cwd: place.folder })
    await fetching('go', ['mod', 'tidy'], { cwd: place.folder })
    await run('go', ['build', '-o', 'story.bin', '.'], { cwd: place.folder })
  },
  story: async ({ folder }, env) => void (await run(join(folder, 'story.bin'), [], { env }))
}

const openapiPythonClient: Client = {
  name: 'openapi-python-client',
  version: versions.openapiPythonClient,
  prepare: ({ tools }) => tools.openapiPythonClient(),
  async generate(place) {
    const bin = join(await place.tools.openapiPythonClient(), 'bin')
    const env = { PATH: `${bin}:${process.env['PATH']}` }
    const args = ['generate', '--path', document(place), '--output-path', 'made', '--fail-on-warning']
    await run(join(bin, 'openapi-python-client'), args, { cwd: place.folder, env })
  },
  async compile(place) {
    await addStory(place, 'openapi-python-client/story.py', 'made/story.py', 'python')
    const python = join(await place.tools.openapiPythonClient(), 'bin/python')
    await run(python, ['-m', 'compileall', '-q', '.'], { cwd: join(place.folder, 'made') })
    await run(python, ['-c', 'import card_payments_client.models'], { cwd: join(place.folder, 'made') })
  },
  async story({ folder, tools }, env) {
    await run(join(await tools.openapiPythonClient(), 'bin/python'), ['story.py'], { cwd: join(folder, 'made'), env })
  }
}

const openapiTypescript: Client = {
  name: 'openapi-typescript',
  version: versions.openapiTypescript,
  prepare: ({ tools }) => tools.node(),
  async generate(place) {
    const packages = await place.tools.node()
    await cp(join(packages, 'package.json'), join(place.folder, 'package.json'))
    const program = join(packages, 'node_modules/openapi-typescript/bin/cli.js')
    for (const [name, types] of [
      ['openapi.json', 'api.d.ts'],
      ['openapi-tokens.json', 'tokens.d.ts']
    ] as const) {
      await run(process.execPath, [program, document(place, name), '-o', join(place.folder, types)])
    }
  },
  async compile(place) {
    const packages = await place.tools.node()
    await addStory(place, 'openapi-typescript/story.mts', 'story.mts', 'js')
    await symlink(join(packages, 'node_modules'), join(place.folder, 'node_modules'))
    const options = {
      strict: true,
      target: 'es2022',
      module: 'nodenext',
      skipLibCheck: true,
      outDir: 'made',
      types: ['node']
    }
    await writeFile(
      join(place.folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['story.mts'] })
    )
    await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], { cwd: place.folder })
  },
  story: async ({ folder }, env) => void (await run(process.execPath, ['made/story.mjs'], { cwd: folder, env }))
}

export const clients: readonly Client[] = [
  go,
  java,
  python,
  php,
  rust,
  oapiCodegen,
  openapiPythonClient,
  openapiTypescript
]

/** An empty folder for a client. */
export async function emptyFolder(tools: Tools, name: string): Promise<string> {
  const folder = join(tools.folder, 'clients', name.replaceAll(' ', '-'))
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  return folder
}
