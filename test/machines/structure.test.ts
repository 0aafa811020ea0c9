/** What neither the compiler nor the paths through a machine show (payment/paths.test.ts): misspelt keys, missing sentences, wrong ends. */
import { expect } from 'chai'
import { type AnyStateMachine, createMachine } from 'xstate'
import { type ChartState, lineage, readChart } from '../../machines/chart.js'
import { paymentPhases, paymentStatuses } from '../../machines/model.js'
import { paymentMachine } from '../../machines/payment/machine.js'

const STATE_KEYS = ['description', 'type', 'initial', 'states', 'on', 'tags']
const MACHINE_KEYS = [...STATE_KEYS, 'id', 'context', 'schemas']
const TRANSITION_KEYS = ['target', 'guard', 'actions', 'description']

type Config = Readonly<Record<string, unknown>>

const machine = paymentMachine

describe(`the machine ${machine.id}`, () => {
  const chart = readChart(machine)

  it('describes itself, each state and each transition in a sentence', () => {
    const texts = [
      { name: machine.id, text: chart.description },
      ...chart.states.map(({ path, description }) => ({ name: path, text: description })),
      ...chart.transitions.map(({ source, event, guard, description }) => ({
        name: `${source} on ${event} [${guard}]`,
        text: description
      }))
    ]
    expect(texts.filter(({ text }) => !/^[A-Z0-9].*\.$/.test(text)).map(({ name }) => name)).to.deep.equal([])
  })

  it('uses only keys that XState knows', () => {
    expect(unknownKeys(machine.config, machine.id, MACHINE_KEYS)).to.deep.equal([])
  })

  it('names only guards and actions that are implemented, and implements none that it does not name', () => {
    const guards = chart.transitions.flatMap(({ guard }) => guard ?? [])
    const actions = chart.transitions.flatMap(transition => transition.actions)
    const { implementations } = machine
    expect(sorted(guards)).to.deep.equal(Object.keys(implementations.guards).sort())
    expect(sorted(actions)).to.deep.equal(Object.keys(implementations.actions).sort())
  })

  it('ends where nothing of its own can happen any more, and nowhere else', () => {
    const canLeave = (state: ChartState): boolean =>
      chart.transitions.some(({ source }) => source !== '' && lineage(state.path).includes(source))
    const leaves = chart.states.filter(({ kind }) => kind !== 'compound')
    const finals = leaves.filter(({ kind }) => kind === 'final').map(({ path }) => path)
    expect(leaves.filter(state => !canLeave(state)).map(({ path }) => path)).to.deep.equal(finals)
  })

  it('is the same machine after a trip through JSON: tools can import it', () => {
    const copy: AnyStateMachine = createMachine(JSON.parse(JSON.stringify(machine.config)))
    expect(readChart(copy)).to.deep.equal(chart)
  })
})

describe('the chart of a payment', () => {
  it('stays small enough to be read: at most 200 transitions and 15 conditions', () => {
    expect(readChart(paymentMachine).transitions).to.have.length.at.most(200)
    expect(Object.keys(paymentMachine.implementations.guards)).to.have.length.at.most(15)
  })
})

describe('the words of a payment', () => {
  it('are the statuses and phases of the chart, and no others', () => {
    const { states } = readChart(paymentMachine)
    const phases = states.filter(({ parent }) => parent !== null).map(({ path }) => path.split('.')[1] ?? '')
    expect(sorted(states.filter(({ parent }) => parent === null).map(({ path }) => path))).to.deep.equal(
      sorted(paymentStatuses)
    )
    expect(sorted(phases)).to.deep.equal(sorted(paymentPhases))
  })
})

function unknownKeys(config: unknown, name: string, allowed: readonly string[]): string[] {
  const node = objectOf(config)
  const own = Object.keys(node).filter(key => !allowed.includes(key))
  const transitions = Object.entries(objectOf(node['on'])).flatMap(([event, given]) =>
    [given].flat().flatMap(transition =>
      typeof transition === 'string'
        ? []
        : Object.keys(objectOf(transition))
            .filter(key => !TRANSITION_KEYS.includes(key))
            .map(key => `${name} on ${event}: ${key}`)
    )
  )
  const states = Object.entries(objectOf(node['states'])).flatMap(([key, state]) =>
    unknownKeys(state, `${name}.${key}`, STATE_KEYS)
  )
  return [...own.map(key => `${name}: ${key}`), ...transitions, ...states]
}

function objectOf(value: unknown): Config {
  return typeof value === 'object' && value !== null ? (value as Config) : {}
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
