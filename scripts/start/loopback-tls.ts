/**
 * Webhooks go to https addresses only. For receivers on the machine of a developer, the test environment has its own
 * certificate authority: `webhooks` trusts it, `webhooks:listen` uses it.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { replaceFile } from './data-dir.js'

export interface TlsMaterial {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const YEARS_VALID = 10
/** The authority is written last: its file shows that all are there. */
const PARTS = ['key', 'cert', 'ca'] as const

/** The file of one part, in a data directory. */
function fileOf(dataDir: string, part: keyof TlsMaterial): string {
  return join(dataDir, 'webhooks', `loopback-${part}.pem`)
}

/** Makes the files unless they are there. */
async function generateLoopbackTls(dataDir: string): Promise<void> {
  if (existsSync(fileOf(dataDir, 'ca'))) return
  const material = await makeLoopbackTls()
  await mkdir(join(dataDir, 'webhooks'), { recursive: true, mode: 0o700 })
  for (const part of PARTS) await replaceFile(fileOf(dataDir, part), material[part])
}

/**
 * Writes the authorities that `webhooks` trusts besides the public ones: the one of this machine, and those of
 * `givenFile`, which the operator's NODE_EXTRA_CA_CERTS names. Returns the file.
 */
export async function writeTrustedAuthorities(dataDir: string, givenFile: string | undefined): Promise<string> {
  const given = givenFile === undefined ? '' : await readFile(givenFile, 'utf8').catch(() => '')
  const file = join(dataDir, 'webhooks', 'trusted-authorities.pem')
  await generateLoopbackTls(dataDir)
  await replaceFile(file, `${await readFile(fileOf(dataDir, 'ca'), 'utf8')}\n${given}`)
  return file
}

/** Reads the files. Rejects with a sentence when `npm start` has not made them. */
export async function readLoopbackTls(dataDir: string): Promise<TlsMaterial> {
  const [key, cert, ca] = await Promise.all(
    PARTS.map(part => readFile(fileOf(dataDir, part), 'utf8').catch(() => null))
  )
  if (!ca || !cert || !key) throw new Error(`There is no certificate in ${dataDir}. Run \`npm start\` first.`)
  return { ca, cert, key }
}

/**
 * An authority, and its certificate for `localhost`, 127.0.0.1 and ::1. The authority's key is discarded. Two authorities
 * that one process trusts need two names.
 */
export async function makeLoopbackTls(name = 'Card payments, this machine only'): Promise<TlsMaterial> {
  const notAfterDate = new Date()
  notAfterDate.setFullYear(notAfterDate.getFullYear() + YEARS_VALID)
  const common = { keyType: 'ec', algorithm: 'sha256', notAfterDate } as const
  const authority = await generate([{ name: 'commonName', value: name }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true }
    ]
  })
  const leaf = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...common,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true, keyEncipherment: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' }
        ]
      }
    ]
  })
  return { ca: authority.cert, cert: leaf.cert, key: leaf.private }
}
