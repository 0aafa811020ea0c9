import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { SeenFile } from '../../../redis/installation/seen-file.js'
import { until } from '../../support/conditions.js'

const seen = { atMs: 7, memories: new Map([[3, { epoch: 1, serverId: 'server', count: 9 }]]) }

describe('the memory of a host', () => {
  it('makes its folder, and tells each process of the installation what all have seen', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'payments-seen-'))
    const dataDir = join(dir, 'not', 'made', 'yet')
    new SeenFile(dataDir, 'api', 'own').write(seen)
    new SeenFile(dataDir, 'payments', 'another').write(seen)
    await until('both have written', async () => {
      const names = await readdir(join(dataDir, 'seen')).catch(() => [])
      return names.filter(name => name.endsWith('.json')).length === 2
    })
    expect(await new SeenFile(dataDir, 'payments', 'own').readAll()).to.deep.equal([seen])
    await rm(dir, { recursive: true })
  })

  it('is written again once its folder can be made', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'payments-seen-'))
    const dataDir = join(dir, 'data')
    await writeFile(dataDir, 'in the way')
    const file = new SeenFile(dataDir, 'api', 'own')
    file.write(seen)
    expect(await file.readAll()).to.deep.equal([])
    await rm(dataDir)
    await until('it is written', async () => {
      file.write(seen)
      return (await file.readAll()).length === 1
    })
    await rm(dir, { recursive: true })
  })

  it('is empty, and nothing tries for ever, where no folder can be made', async () => {
    const file = new SeenFile('/proc/none', 'api', 'own')
    const before = process.cpuUsage()
    file.write(seen)
    expect(await file.readAll()).to.deep.equal([])
    await new Promise(resolve => setTimeout(resolve, 500))
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000, 'ms of CPU time in half a second').to.be.below(250)
  })
})
