import { basename } from 'node:path'
import { expect } from 'chai'
import { scriptSteps, scriptsBesideTheWay } from '../../redis/script-names.js'
import { readConfig } from '../../runtime/config.js'
import { armCrashPoints, withCrashPoints } from '../../runtime/crash-points.js'
import { createCardNetwork } from '../../workers/network/card-network.js'
import { crashSteps } from '../support/crash-steps.js'
import { filesBelow } from '../tidy/sources.js'

describe('crash points', () => {
  afterEach(() => armCrashPoints(null))

  it('surround every script except the listed ones', () => {
    const scripts = filesBelow('redis', '.lua').filter(path => !path.startsWith('redis/includes/'))
    expect([...scriptSteps, ...scriptsBesideTheWay]).to.have.members(scripts.map(path => basename(path, '.lua')))
  })

  it('surround every call to the card network', async () => {
    const network = createCardNetwork(readConfig({ SERVICE_ENV: 'test' }))
    const calls = Object.keys(network).filter(name => !['close', 'isCircuitOpen', 'isUnusable'].includes(name))
    await network.close()
    expect(crashSteps).to.include.members(calls.map(name => `network.${name}`))
  })

  it('do nothing when they are not armed', async () => {
    const result = { done: true }
    const work = Promise.resolve(result)
    expect(withCrashPoints('commit', () => work)).to.equal(work)
  })

  it('call an armed hook before and after a step', async () => {
    const heard: string[] = []
    armCrashPoints(async point => void heard.push(point))
    await withCrashPoints('commit', async () => void heard.push('commit'))
    expect(heard).to.deep.equal(['commit.before', 'commit', 'commit.after'])
  })
})
