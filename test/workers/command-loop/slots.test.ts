import { expect } from 'chai'
import { createSlots } from '../../../workers/command-loop/slots.js'

/** Works that end when the test says so. */
function stage() {
  const running: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => (): Promise<void> => {
    running.push(name)
    return new Promise(resolve =>
      ends.set(name, () => {
        running.splice(running.indexOf(name), 1)
        resolve()
      })
    )
  }
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { running, work, end }
}

describe('the slots of a worker', () => {
  it('run a suspect alone: after what runs, before what comes later', async () => {
    const { running, work, end } = stage()
    const slots = createSlots(10)
    slots.run(work('before'))
    slots.runAlone(work('suspect'))
    slots.run(work('after'))
    slots.runAlone(work('another'))
    expect(running).to.deep.equal(['before'])
    await end('before')
    expect(running).to.deep.equal(['suspect'])
    await end('suspect')
    expect(running).to.deep.equal(['another'])
    await end('another')
    expect(running).to.deep.equal(['after'])
    await end('after')
    await slots.allFree()
  })

  it('take nothing more while a suspect waits or runs', async () => {
    const { work, end } = stage()
    const slots = createSlots(10)
    slots.run(work('before'))
    slots.runAlone(work('suspect'))
    let isFree = false
    const free = slots.someFree().then(() => {
      isFree = true
    })
    await end('before')
    expect(isFree).to.equal(false)
    await end('suspect')
    await free
  })
})
