import { expect } from 'chai'
import { type PolicySettings, vouchedPolicy } from '../../../machines/payment/policy.js'

describe('the policy of a process', () => {
  it('has the settings that the process uses, and refuses to read the others', () => {
    const read = { environment: 'test', reconcileDelaysMs: [], reconcileListAfterMs: 1 } as const
    // As runtime/config.ts makes one that a process does not use.
    const settings: PolicySettings = Object.defineProperty({ ...read, notFoundHorizonMs: 0 }, 'notFoundHorizonMs', {
      enumerable: false,
      get: () => {
        throw new Error('is not used by this process')
      }
    })
    const policy = vouchedPolicy(settings)
    expect([policy.environment, policy.unvouchedBeforeMs]).to.deep.equal(['test', 0])
    expect(() => policy.notFoundHorizonMs).to.throw('is not used by this process')
  })
})
