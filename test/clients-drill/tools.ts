/** The tools of merchants in other languages, at known versions: from the registries of their languages, kept in `.vendor`. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findOnPath, isExecutable, libraryPathOf, obtainUnpacked } from '../../scripts/start/apt-packages.js'
import { fetching, NotAvailable, run } from './run.js'

export const versions = {
  openapiGenerator: '7.25.0',
  oapiCodegen: '2.8.2',
  openapiPythonClient: '0.29.1',
  openapiTypescript: '7.13.0'
} as const

const PYTHON_PACKAGES = [`openapi-python-client==${versions.openapiPythonClient}`, 'ruff==0.14.0']
const NODE_PACKAGES = {
  'openapi-typescript': versions.openapiTypescript,
  'openapi-fetch': '0.14.0',
  typescript: '5.9.3',
  '@types/node': '20.19.43'
}

/** What to install where a program lacks; the names are Debian's. */
const packages: Readonly<Record<string, string>> = {
  java: 'Java 17 or newer (default-jdk-headless)',
  mvn: 'Maven (maven)',
  go: 'Go 1.21 or newer (golang)',
  python3: 'Python 3.9 or newer with venv (python3-venv)',
  cargo: 'Rust (cargo)'
}

/** Each function resolves to the place of a tool, and fetches what is not there, once; it rejects with a sentence. */
export class Tools {
  readonly #folder: string
  readonly #say: (line: string) => void
  readonly #obtaining = new Map<string, Promise<string>>()

  constructor(vendorDir: string, say: (line: string) => void) {
    this.#folder = join(vendorDir, 'clients-drill')
    this.#say = say
  }

  /** The folder of a client, which is empty. */
  get folder(): string {
    return this.#folder
  }

  /** Maven brings the jar, as it does for those who build with it. */
  async openapiGenerator(): Promise<string> {
    this.#need('java', 'mvn')
    const name = `openapi-generator-cli-${versions.openapiGenerator}.jar`
    return await this.#obtained(name, async () => {
      const artifact = `org.openapitools:openapi-generator-cli:${versions.openapiGenerator}`
      const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'
      await fetching('mvn', ['-q', '-B', goal, `-Dartifact=${artifact}`, `-DoutputDirectory=${this.#folder}`])
    })
  }

  async oapiCodegen(): Promise<string> {
    this.#need('go')
    return await this.#obtained('bin/oapi-codegen', async () => {
      const module = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${versions.oapiCodegen}`
      await fetching('go', ['install', module], { env: { GOBIN: join(this.#folder, 'bin') } })
    })
  }

  /** The folder of an environment of Python with these packages; a client installs its own into it. */
  async python(name: string, packages: readonly string[] = []): Promise<string> {
    this.#need('python3')
    return await this.#obtained(`python-${name}`, async folder => {
      await run('python3', ['-m', 'venv', folder])
      if (packages.length > 0) await fetching(join(folder, 'bin/pip'), ['install', '-q', ...packages])
    })
  }

  /** The folder of an environment of Python that has openapi-python-client. */
  async openapiPythonClient(): Promise<string> {
    return await this.python('openapi-python-client', PYTHON_PACKAGES)
  }

  /** A folder with packages from npm, which has a compiler of its own: the tools need TypeScript 5. */
  async node(): Promise<string> {
    return await this.#obtained('node', async folder => {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies: NODE_PACKAGES }))
      await fetching('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder })
    })
  }

  /** PHP with what a generated client needs: Debian's packages, unpacked and not installed. */
  async php(): Promise<{ command: readonly string[]; env: Readonly<Record<string, string>> }> {
    const packages = ['php-cli', 'php-curl', 'php-mbstring', 'php-guzzlehttp-guzzle']
    const options = { vendorDir: this.#folder, name: 'php', packages, say: this.#say }
    const unpacked = await obtainUnpacked(options, folder => (phpIn(folder) === undefined ? undefined : folder))
    const php = phpIn(unpacked) ?? ''
    const { stdout } = await run('find', [join(unpacked, 'usr/lib/php'), '-name', 'curl.so'])
    const extensions = ['curl', 'mbstring', 'ctype', 'tokenizer', 'iconv'].flatMap(name => ['-d', `extension=${name}`])
    const libraries = join(unpacked, 'usr/share/php')
    return {
      command: [
        php,
        '-n',
        '-d',
        `extension_dir=${stdout.trim().replace(/\/curl\.so$/, '')}`,
        ...extensions,
        '-d',
        `include_path=.:${libraries}`
      ],
      env: { LD_LIBRARY_PATH: libraryPathOf(unpacked), PHP_LIBRARIES: libraries }
    }
  }

  async rust(): Promise<void> {
    this.#need('cargo')
  }

  async go(): Promise<void> {
    this.#need('go')
  }

  #need(...programs: readonly string[]): void {
    const lacking = programs.filter(program => findOnPath(program) === undefined)
    if (lacking.length === 0) return
    const wanted = lacking.map(program => packages[program] ?? program)
    throw new NotAvailable(`there is no ${lacking.join(' and no ')} on the PATH: install ${wanted.join(', and ')}`)
  }

  #obtained(name: string, obtain: (path: string) => Promise<void>): Promise<string> {
    const obtaining = this.#obtaining.get(name) ?? this.#obtain(name, obtain)
    this.#obtaining.set(name, obtaining)
    return obtaining
  }

  async #obtain(name: string, obtain: (path: string) => Promise<void>): Promise<string> {
    const path = join(this.#folder, name)
    const stamp = `${path}.complete`
    if (!existsSync(stamp)) {
      await mkdir(this.#folder, { recursive: true })
      this.#say(`Fetching ${name} ...`)
      await obtain(path)
      await writeFile(stamp, '')
    }
    return path
  }
}

function phpIn(folder: string): string | undefined {
  return ['8.2', '8.3', '8.4'].map(version => join(folder, `usr/bin/php${version}`)).find(isExecutable)
}
