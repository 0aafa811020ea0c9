/** The first charge of client/samples/ in each language. What is generated here is a copy of the file. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client, Workplace } from './clients.js'
import { run } from './run.js'
import { type SampleLanguage, sampleFiles, sampleOf } from './samples.js'

type Command = readonly [file: string, ...args: string[]]

/** How a sample is compiled, and how it runs. */
const commands: Readonly<Record<SampleLanguage, { compile: Command | null; run: Command }>> = {
  go: { compile: ['go', 'build', '-o', 'sample.bin', 'main.go'], run: ['./sample.bin'] },
  java: { compile: ['javac', 'FirstCharge.java'], run: ['java', '-cp', '.', 'FirstCharge'] },
  python: { compile: ['python3', '-m', 'compileall', '-q', '.'], run: ['python3', 'first_charge.py'] },
  php: { compile: null, run: ['first-charge.php'] },
  js: { compile: ['node', '--check', 'first-charge.mjs'], run: ['node', 'first-charge.mjs'] }
}

function sampleRow(language: SampleLanguage): Client {
  const runIn = async (command: Command, { folder, tools }: Workplace, env: Readonly<Record<string, string>>) => {
    const [file, ...args] = command
    if (language !== 'php') return await run(file, args, { cwd: folder, env })
    const php = await tools.php()
    const [program = '', ...options] = php.command
    return await run(program, [...options, file], { cwd: folder, env: { ...env, ...php.env } })
  }
  return {
    name: `sample ${language}`,
    version: 'samples',
    prepare: async ({ tools }) => language === 'php' && (await tools.php()),
    async generate({ root, folder }) {
      await writeFile(join(folder, sampleFiles[language].charge), sampleOf(root, 'charge', language))
    },
    async compile(place) {
      const { compile } = commands[language]
      if (compile !== null) await runIn(compile, place, {})
    },
    async story(place, env) {
      const token = await (await fetch(`${env['DRILL_URL']}/token/approved`)).text()
      const { stdout } = await runIn(commands[language].run, place, { ...env, TOKEN_ID: token })
      if (!stdout.startsWith('201 ') || !/"status":"captured/.test(stdout)) throw new Error(`it printed ${stdout}`)
    }
  }
}

export const sampleRows: readonly Client[] = (Object.keys(sampleFiles) as SampleLanguage[]).map(sampleRow)
export const sampleNames: readonly string[] = sampleRows.map(({ name }) => name)
