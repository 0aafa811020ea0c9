import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { recordedKeys } from '../../../redis/installation/key-record.js'
import { ensureKeyFiles, keyFilesIn, webhookKeyFileIn } from '../../../vault/key-files.js'
import { readKeyRing } from '../../../vault/key-ring.js'
import { loadOpener } from '../../../vault/opener.js'
import { loadSealer } from '../../../vault/sealer.js'
import { loadWebhookSecrets } from '../../../vault/webhook-secrets.js'
import { until } from '../../support/conditions.js'
import { operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'

const init = (...args: string[]) =>
  operate({}, args, { connect: () => Promise.reject(new Error('this command needs no Redis')) })
const isRoot = process.getuid?.() === 0
/** Only root can give files to another user. */
const uid = isRoot ? 65_534 : (process.getuid?.() ?? 0)
const gid = isRoot ? 65_533 : (process.getgid?.() ?? 0)

describe('operator: the first key files of an installation', () => {
  let dir = ''
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'operator-keys-'))
  })
  afterEach(() => rmSync(dir, { recursive: true }))
  const accessOf = (file: string): string => {
    const { mode, uid: owner, gid: group } = statSync(file)
    return `${(mode & 0o777).toString(8)} ${owner}:${group}`
  }

  it('vault init makes a pair that seals and opens, readable by its owner only, without Redis', async () => {
    const made = await init('vault', 'init', join(dir, 'keys'), '--json')
    expect(made.code, made.text).to.equal(0)
    const { key_id: keyId, files } = made.json() as { key_id: string; files: string[] }
    expect(files.map(file => file.replace(`${dir}/keys/`, ''))).to.deep.equal([
      'vault-private-keys.json',
      'vault-public-keys.json'
    ])
    const [privateFile = '', publicFile = ''] = files
    const context = { merchantId: 'm_1', subjectId: 'tok_1' }
    const box = loadSealer(publicFile).sealCvv('123', context)
    expect(box).to.contain(keyId)
    expect(loadOpener(privateFile).openCvv(box, context)).to.equal('123')
    expect(files.map(file => statSync(file).mode & 0o777)).to.deep.equal([0o600, 0o600])
  })

  for (const [noun, count] of [
    ['vault', 2],
    ['webhook-keys', 1]
  ] as const) {
    it(`${noun} init gives the files and their folder to a user and a group`, async () => {
      const folder = join(dir, 'keys')
      const made = await init(noun, 'init', folder, '--mode', '640', '--owner', `${uid}:${gid}`)
      expect(made.code, made.text).to.equal(0)
      expect(readdirSync(folder).map(name => accessOf(join(folder, name)))).to.deep.equal(
        Array.from({ length: count }, () => `640 ${uid}:${gid}`)
      )
      expect(accessOf(folder)).to.equal(`750 ${uid}:${gid}`)
    })

    it(`${noun} init leaves the rights of an existing folder alone, and replaces no file`, async () => {
      chmodSync(dir, 0o711)
      expect((await init(noun, 'init', '--folder', dir)).code).to.equal(0)
      const before = readdirSync(dir).map(name => readFileSync(join(dir, name), 'utf8'))
      const second = await init(noun, 'init', dir)
      expect(second).to.include({ code: 1 })
      expect(second.text).to.contain('exists already. Nothing was changed')
      expect(readdirSync(dir).map(name => readFileSync(join(dir, name), 'utf8'))).to.deep.equal(before)
      expect(statSync(dir).mode & 0o777).to.equal(0o711)
    })
  }

  it('init refuses what it does not understand', async () => {
    for (const options of [['--mode', '666'], ['--owner', 'payments'], []]) {
      expect(await init('vault', 'init', ...(options.length === 0 ? [] : [dir]), ...options)).to.include({
        code: 2
      })
    }
    expect(readdirSync(dir)).to.deep.equal([])
  })
})

describe('operator: the commands of docs/SECURITY.md about keys', () => {
  const test = useRedis()
  let dir = ''
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'operator-keys-'))
  })
  after(() => rmSync(dir, { recursive: true }))

  it('work in the order of the page', async () => {
    const page = readFileSync('docs/SECURITY.md', 'utf8')
    const lines = [...page.matchAll(/^npm run --silent operator -- ((?:vault|webhook-keys) [^#\n]*)/gm)]
    const { publicFile, privateFile } = keyFilesIn(dir)
    const env = {
      SERVICE_ENV: 'test',
      REDIS_URL: test.url,
      VAULT_PUBLIC_KEYS_FILE: publicFile,
      VAULT_PRIVATE_KEYS_FILE: privateFile,
      WEBHOOK_KEYS_FILE: webhookKeyFileIn(dir).privateFile
    }
    let first = ''
    for (const [, line = ''] of lines) {
      const command = line
        .replace('/etc/payments/keys', dir)
        .replace('"$(id -u payments):$(id -g payments)"', `${uid}:${gid}`)
        .replace('OLD', first)
      if (command.includes('retire')) {
        const text = readFileSync(privateFile, 'utf8')
        writeFileSync(privateFile, text.replaceAll(/"20\d\d-[^"]+"/g, '"2020-01-01T00:00:00.000Z"'))
      }
      const run = await operate(env, command.trim().split(/ +/))
      expect(run.code, `${command}: ${run.text}`).to.equal(0)
      if (first === '') first = readKeyRing(privateFile, 'private').current
    }
    expect(lines).to.have.lengthOf(7)
    expect(Object.keys(readKeyRing(privateFile, 'private').keys)).to.have.lengthOf(1)
    expect(Object.keys(readKeyRing(env.WEBHOOK_KEYS_FILE, 'webhook').keys)).to.have.lengthOf(2)
  })
})

describe('operator webhook-keys rotate', () => {
  const test = useRedis()
  let dir = ''
  let file = ''
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'operator-keys-'))
    file = ensureKeyFiles(webhookKeyFileIn(dir)).privateFile
    await test.redis.flushdb()
  })
  afterEach(() => rmSync(dir, { recursive: true }))
  const rotate = (...args: string[]) =>
    operate({ SERVICE_ENV: 'test', REDIS_URL: test.url, WEBHOOK_KEYS_FILE: file }, ['webhook-keys', 'rotate', ...args])
  const secretOf = (keyId: string, of = loadWebhookSecrets(file)): string => of.secretOf({ keyId, salt: 's' }, 'm_1')

  it('adds a key that running processes use without a restart, and changes no secret that a merchant has', async () => {
    const running = loadWebhookSecrets(file)
    const { current: first } = running.keyIds()
    const before = secretOf(first)
    const rotated = await rotate('--json')
    expect(rotated.code, rotated.text).to.equal(0)
    const { key_id: second } = rotated.json() as { key_id: string }
    expect(second).not.to.equal(first)
    expect(secretOf(second, running), 'a secret of the new key')
      .to.match(/^whsec_/)
      .and.not.to.equal(before)
    expect(secretOf(first, running)).to.equal(before)
    await until('new secrets come from the new key', () => running.keyIds().current === second)
    expect(await recordedKeys(test.redis, 'webhook')).to.deep.equal([first, second])
  })

  it('can be repeated, and refuses the file of another installation', async () => {
    const { current: first } = readKeyRing(file, 'webhook')
    for (let time = 0; time < 2; time++) expect((await rotate('--if-current', first)).code).to.equal(0)
    const rotated = readFileSync(file, 'utf8')
    expect(Object.keys(readKeyRing(file, 'webhook').keys)).to.have.lengthOf(2)
    rmSync(file)
    ensureKeyFiles(webhookKeyFileIn(dir))
    const refused = await rotate()
    expect(refused).to.include({ code: 1 })
    expect(refused.text).to.contain('belongs to another installation')
    expect(rotated).not.to.equal(readFileSync(file, 'utf8'))
  })
})
