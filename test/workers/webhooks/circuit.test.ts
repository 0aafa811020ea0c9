import { expect } from 'chai'
import { Circuit } from '../../../workers/webhooks/circuit.js'

describe('the circuit of an endpoint', () => {
  const failing = (circuit: Circuit, times: number, nowMs = 0): void => {
    for (let n = 0; n < times; n++) {
      circuit.noteStart()
      circuit.noteFailure(nowMs, null)
    }
  }

  it('allows more after each success, up to the maximum, and half after a failure', () => {
    const circuit = new Circuit(20)
    expect(circuit.allowance(0)).to.equal(16)
    for (let n = 0; n < 10; n++) circuit.noteSuccess()
    expect(circuit.allowance(0)).to.equal(20)
    circuit.noteFailure(0, null)
    expect(circuit.allowance(0)).to.equal(10)
  })

  it('opens after five failures in a row, and then allows one probe after a pause that grows to half a minute', () => {
    const circuit = new Circuit(64)
    failing(circuit, 4)
    expect(circuit.isOpen).to.equal(false)
    failing(circuit, 1)
    let nowMs = 0
    const pauses: number[] = []
    for (let n = 0; n < 7; n++) {
      const before = nowMs
      while (circuit.allowance(nowMs) === 0) nowMs += 500
      pauses.push(nowMs - before)
      expect(circuit.allowance(nowMs)).to.equal(1)
      failing(circuit, 1, nowMs)
    }
    expect(pauses).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  it('closes with the first success', () => {
    const circuit = new Circuit(64)
    failing(circuit, 5)
    circuit.noteStart()
    circuit.noteSuccess()
    expect(circuit.isOpen).to.equal(false)
    expect(circuit.allowance(0)).to.equal(16)
  })

  it('leaves a receiver alone that asks for it', () => {
    const circuit = new Circuit(64)
    circuit.noteFailure(0, 10_000)
    expect(circuit.allowance(9_999)).to.equal(0)
    expect(circuit.allowance(10_000)).to.equal(1)
  })
})
