import { expect } from 'chai'
import { loadLua, luaNames } from '../../redis/scripts.js'
import { readConfig } from '../../runtime/config.js'
import {
  armCrashPoints,
  type CrashPoint,
  crashSteps,
  scriptsBesideTheWay,
  withCrashPoints
} from '../../runtime/crash-points.js'
import { createCardNetwork } from '../../workers/network/card-network.js'

describe('crash points', () => {
  afterEach(() => armCrashPoints(null))

  it('surround every script except the listed ones', () => {
    const scripts = luaNames.filter(name => !loadLua(name).startsWith('-- Included by '))
    const named = [...Object.keys(crashSteps), ...Object.keys(scriptsBesideTheWay)]
    expect(named).to.include.members(scripts)
  })

  it('surround every call to the card network', async () => {
    const network = createCardNetwork(readConfig({ SERVICE_ENV: 'test' }))
    const calls = Object.keys(network).filter(name => !['close', 'isCircuitOpen'].includes(name))
    await network.close()
    expect(Object.keys(crashSteps)).to.include.members(calls.map(name => `network.${name}`))
  })

  it('name existing steps only', () => {
    const steps = Object.keys(crashSteps).filter(step => !/^(network|archive)\./.test(step) && step !== 'read_commands')
    expect(luaNames).to.include.members([...steps, ...Object.keys(scriptsBesideTheWay)])
  })

  it('do nothing when they are not armed', async () => {
    const result = { done: true }
    const work = Promise.resolve(result)
    expect(withCrashPoints('commit', () => work)).to.equal(work)
  })

  it('call an armed hook before and after a step', async () => {
    const heard: string[] = []
    armCrashPoints(async (point: CrashPoint) => void heard.push(point))
    await withCrashPoints('commit', async () => void heard.push('commit'))
    expect(heard).to.deep.equal(['commit.before', 'commit', 'commit.after'])
  })

  it('are refused in the live environment, and unknown names everywhere', () => {
    expect(() => readConfig({ SERVICE_ENV: 'live', CRASH_POINTS: 'commit.after' })).to.throw('CRASH_POINTS')
    expect(() => readConfig({ SERVICE_ENV: 'test', CRASH_POINTS: 'commit' })).to.throw('commit is no point')
  })
})
