import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { libraryPathOf } from '../../../scripts/start/apt-packages.js'

describe('unpacked packages', () => {
  let unpacked: string
  before(async () => {
    unpacked = await mkdtemp(join(tmpdir(), 'packages-'))
  })
  after(() => rm(unpacked, { recursive: true }))

  it('find their libraries in every folder that has some', async () => {
    for (const file of [
      'usr/lib/x86_64-linux-gnu/libpulse.so.0.24.2',
      'usr/lib/x86_64-linux-gnu/pulseaudio/libpulsecommon-16.1.so',
      'lib/libc.so.6',
      'usr/lib/python/notes.sorted',
      'usr/share/elsewhere/libnot.so'
    ]) {
      await mkdir(join(unpacked, file, '..'), { recursive: true })
      await writeFile(join(unpacked, file), '')
    }
    expect(libraryPathOf(unpacked).split(delimiter)).to.have.members([
      join(unpacked, 'usr/lib/x86_64-linux-gnu'),
      join(unpacked, 'usr/lib/x86_64-linux-gnu/pulseaudio'),
      join(unpacked, 'lib')
    ])
  })
})
