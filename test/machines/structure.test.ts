/** What the compiler does not see in a machine: names that lead nowhere, states that nothing reaches, misspelt keys. */
import { expect } from 'chai'
import { type AnyStateMachine, createMachine } from 'xstate'
import { type Chart, type ChartState, entered, lineage, readChart } from '../../machines/chart.js'
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

  it('leads to states that exist', () => {
    const paths = chart.states.map(({ path }) => path)
    const targets = [chart.initial, ...chart.transitions.flatMap(({ target }) => target ?? [])]
    expect(targets.filter(target => !paths.includes(target))).to.deep.equal([])
    const innermost = targets.map(target => stateAt(chart, entered(chart, target)))
    expect(innermost.filter(({ kind }) => kind === 'compound')).to.deep.equal([])
  })

  it('reaches every state', () => {
    const reached = reachable(chart)
    expect(chart.states.map(({ path }) => path).filter(path => !reached.has(path))).to.deep.equal([])
  })

  it('ends where nothing of its own can happen any more, and nowhere else', () => {
    const canLeave = (state: ChartState): boolean =>
      chart.transitions.some(({ source }) => source !== '' && lineage(state.path).includes(source))
    const leaves = chart.states.filter(({ kind }) => kind !== 'compound')
    const finals = leaves.filter(({ kind }) => kind === 'final').map(({ path }) => path)
    expect(leaves.filter(state => !canLeave(state)).map(({ path }) => path)).to.deep.equal(finals)
  })

  it('asks unguarded candidates last: a candidate after one is never taken', () => {
    const shadowed = chart.transitions.filter(({ source, event }, index) =>
      chart.transitions
        .slice(0, index)
        .some(earlier => earlier.source === source && earlier.event === event && earlier.guard === null)
    )
    expect(shadowed).to.deep.equal([])
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

/** All states that some order of events enters, with the states around them. */
function reachable(chart: Chart): Set<string> {
  const reached = new Set<string>()
  const open = [chart.initial]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue
    const around = lineage(path).slice(0, -1)
    for (const outer of around) reached.add(outer)
    for (const { source, target } of chart.transitions) {
      if (target !== null && [...around, ''].includes(source)) open.push(entered(chart, target))
    }
  }
  return reached
}

function stateAt(chart: Chart, path: string): ChartState {
  const state = chart.states.find(candidate => candidate.path === path)
  if (state === undefined) throw new Error(`There is no state ${path}.`)
  return state
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
