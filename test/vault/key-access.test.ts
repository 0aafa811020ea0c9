import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { addKey, ensureKeyFiles, type KeyFiles, keyFilesIn } from '../../vault/key-files.js'
import { withKeyLock } from '../../vault/key-lock.js'
import { loadSealer } from '../../vault/sealer.js'

const isRoot = process.getuid?.() === 0
/** The user of the service. Root can become another user; any other user plays both parts. */
const user = isRoot ? 65_534 : (process.getuid?.() ?? 0)
const group = isRoot ? 65_534 : (process.getgid?.() ?? 0)
/** Another owner can be made by root alone, so there is nothing to test for others. */
const itAsRoot = isRoot ? it : () => undefined
const context = { merchantId: 'm_1', subjectId: 'tok_1' }

/** Answers each line, a box, with what the opener makes of it. Its modules are loaded before it becomes the user. */
const OPENER = `
const { loadOpener } = await import(process.env.OPENER)
if (process.getuid() === 0) {
  process.setgroups([])
  process.setgid(${group})
  process.setuid(${user})
}
const opener = loadOpener(process.env.FILE)
const { createInterface } = await import('node:readline')
console.log('ready')
for await (const box of createInterface({ input: process.stdin })) {
  let cvv = null
  try {
    cvv = opener.openCvv(box, ${JSON.stringify(context)})
  } catch {}
  console.log(JSON.stringify({ cvv, problem: opener.keyProblem() ?? null }))
}`

/** Tries a rotation as the user, and prints how it ended. */
const ROTATION = `
const { addKey } = await import(process.env.KEY_FILES)
process.setgroups([])
process.setgid(${group})
process.setuid(${user})
const lock = { files: JSON.parse(process.env.FILES) }
const announce = async () => console.log('announced')
console.log(await addKey(lock, { announce }).catch(error => error.message))`

describe('the owner and the rights of a key file', () => {
  let dir = ''
  let files: KeyFiles
  const children: ChildProcess[] = []

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'vault-access-'))
    chmodSync(dir, 0o755)
    files = ensureKeyFiles(keyFilesIn(dir))
    chownSync(files.privateFile, user, group)
    chmodSync(files.privateFile, 0o640)
    chmodSync(files.publicFile, 0o644)
  })
  afterEach(() => {
    for (const child of children.splice(0)) child.kill()
    rmSync(dir, { recursive: true })
  })

  const rotate = (): Promise<string> => withKeyLock(files, lock => addKey(lock, { announce: async () => undefined }))
  const accessOf = (file: string): readonly number[] => {
    const { uid, gid, mode } = statSync(file)
    return [uid, gid, mode & 0o777]
  }
  const run = (script: string, env: Record<string, string>): ChildProcess => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env,
      stdio: ['pipe', 'pipe', 'inherit']
    })
    children.push(child)
    return child
  }
  /** A process of the user with the private file: opens a box, and says what it has against its file. */
  const startOpener = async (): Promise<(box: string) => Promise<{ cvv: string | null; problem: string | null }>> => {
    const child = run(OPENER, {
      OPENER: new URL('../../vault/opener.js', import.meta.url).href,
      FILE: files.privateFile
    })
    if (child.stdout === null || child.stdin === null) throw new Error('the child has no pipes')
    const lines = createInterface({ input: child.stdout })
    await once(lines, 'line')
    return async box => {
      child.stdin?.write(`${box}\n`)
      const [line] = (await once(lines, 'line')) as [string]
      return JSON.parse(line) as { cvv: string | null; problem: string | null }
    }
  }
  const seal = (): string => loadSealer(files.publicFile).sealCvv('123', context)

  it('stay after a rotation, so that the running process can read the new key', async () => {
    const before = [accessOf(files.privateFile), accessOf(files.publicFile)]
    expect(before).to.deep.include([user, group, 0o640])
    const open = await startOpener()
    await rotate()
    expect([accessOf(files.privateFile), accessOf(files.publicFile)]).to.deep.equal(before)
    expect(await open(seal())).to.deep.equal({ cvv: '123', problem: null })
  })

  it('are a problem of the running process when the file becomes unreadable; its keys stay in use', async () => {
    const open = await startOpener()
    const box = seal()
    chmodSync(files.privateFile, 0o000)
    const { cvv, problem } = await open(box)
    expect(cvv).to.equal('123')
    expect(problem).to.contain(files.privateFile).and.to.contain('cannot be read (EACCES)')
    chmodSync(files.privateFile, 0o640)
    expect(await open(box)).to.deep.equal({ cvv: '123', problem: null })
  })

  itAsRoot('are kept, or nothing is written: a user who cannot give a file away is refused', async () => {
    chownSync(dir, user, group)
    chownSync(files.privateFile, 0, 0)
    chmodSync(files.privateFile, 0o644)
    const before = readFileSync(files.privateFile, 'utf8')
    const child = run(ROTATION, {
      KEY_FILES: new URL('../../vault/key-files.js', import.meta.url).href,
      FILES: JSON.stringify(files)
    })
    let said = ''
    child.stdout?.on('data', text => {
      said += String(text)
    })
    await once(child, 'close')
    expect(said).to.match(/^\S+vault-private-keys.json would not belong to user and group 0:0 any more \(EPERM\)/)
    expect(said).not.to.contain('announced')
    expect(readFileSync(files.privateFile, 'utf8')).to.equal(before)
    expect(readdirSync(dir)).to.have.lengthOf(2)
    writeFileSync(files.privateFile, before)
  })
})
