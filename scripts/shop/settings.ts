/** What a merchant gets from the operator. A real shop has it in its configuration, the secret key in a secret store. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface MerchantSettings {
  readonly baseUrl: string
  readonly tokensUrl: string
  /** Stays on the server, always. */
  readonly apiKey: string
  /** Stands in the page: it can make tokens, and nothing else. */
  readonly publishableKey: string
}

/** Reads the demo merchant. Rejects with what to do when there is none. */
export async function readMerchantSettings(dataDir: string): Promise<MerchantSettings> {
  const file = join(dataDir, 'demo.json')
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`There is no ${file}. Run \`npm start\` in another terminal first: it writes the file.`)
  })
  const demo: Record<string, unknown> = JSON.parse(text)
  const setting = (name: string): string => {
    const value = demo[name]
    if (typeof value === 'string') return value
    throw new Error(`${file} has no "${name}". Run \`npm start\` with all its processes: it writes the file again.`)
  }
  return {
    baseUrl: setting('base_url'),
    tokensUrl: setting('tokens_url'),
    apiKey: setting('api_key'),
    publishableKey: setting('publishable_key')
  }
}
