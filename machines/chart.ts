/**
 * A machine as plain data: what diagrams, tables, the inspector and structural tests read instead of XState's own
 * objects. States are named by their path (`capturing.sending`); the machine itself is the path ''.
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'

export interface ChartState {
  readonly path: string
  readonly parent: string | null
  readonly description: string
  readonly kind: 'atomic' | 'compound' | 'final'
  /** Path of the substate that is entered first; null for a state without substates. */
  readonly initial: string | null
  /** Its own properties; those of the states around it come on top. */
  readonly tags: readonly string[]
}

export interface ChartTransition {
  readonly source: string
  readonly event: string
  readonly guard: string | null
  /** As written; null: the state does not change. `entered` follows it down to the substate that is entered. */
  readonly target: string | null
  readonly actions: readonly string[]
  readonly description: string
}

export interface Chart {
  readonly id: string
  readonly description: string
  /** Path of the state that is entered first, down to the last substate. */
  readonly initial: string
  /** Parents before children, in the order of the machine. */
  readonly states: readonly ChartState[]
  readonly transitions: readonly ChartTransition[]
}

/** Reads a machine. Throws when it uses what a chart can't show: inline functions, parallel states, several targets. */
export function readChart(machine: AnyStateMachine): Chart {
  const nodes = below(machine.root)
  const states = nodes.map(stateOf)
  const chart = {
    id: machine.id,
    description: machine.root.description ?? '',
    initial: '',
    states,
    transitions: [...nodes, machine.root].flatMap(transitionsOf)
  }
  return { ...chart, initial: entered(chart, pathOf(initialOf(machine.root) ?? machine.root)) }
}

/** The innermost state that is active after `path` is entered. */
export function entered(chart: Pick<Chart, 'states'>, path: string): string {
  const initial = chart.states.find(state => state.path === path)?.initial
  return initial == null ? path : entered(chart, initial)
}

/** The states that are active one at a time: those without substates. */
export function leavesOf(chart: Chart): ChartState[] {
  return chart.states.filter(state => state.kind !== 'compound')
}

/**
 * What `event` may do in `path`: the candidates in the order in which their guards are asked, a state's own before those
 * of the states around it. Empty: refused.
 */
export function candidates(chart: Chart, path: string, event: string): ChartTransition[] {
  const all = lineage(path).flatMap(source =>
    chart.transitions.filter(transition => transition.source === source && transition.event === event)
  )
  const unconditional = all.findIndex(({ guard }) => guard === null)
  return unconditional === -1 ? all : all.slice(0, unconditional + 1)
}

/** Everything that may happen next in `path`, the state's own before what it shares with others. */
export function outgoing(chart: Chart, path: string): ChartTransition[] {
  const events = new Set(lineage(path).flatMap(source => eventsOf(chart, source)))
  return [...events].flatMap(event => candidates(chart, path, event))
}

/** `a.b.c`, `a.b`, `a`, ''. */
export function lineage(path: string): string[] {
  if (path === '') return ['']
  const end = path.lastIndexOf('.')
  return [path, ...lineage(end === -1 ? '' : path.slice(0, end))]
}

function eventsOf(chart: Chart, source: string): string[] {
  return chart.transitions.filter(transition => transition.source === source).map(({ event }) => event)
}

function below(node: AnyStateNode): AnyStateNode[] {
  return Object.values(node.states).flatMap(child => [child, ...below(child)])
}

function pathOf(node: AnyStateNode): string {
  return node.path.join('.')
}

function initialOf(node: AnyStateNode): AnyStateNode | undefined {
  return node.type === 'compound' ? node.initial?.target?.[0] : undefined
}

function stateOf(node: AnyStateNode): ChartState {
  if (node.type === 'parallel' || node.type === 'history') {
    throw new Error(`The state ${node.id} is ${node.type}: a chart shows states that are active one at a time.`)
  }
  const initial = initialOf(node)
  return {
    path: pathOf(node),
    parent: node.parent === undefined || node.parent.path.length === 0 ? null : pathOf(node.parent),
    description: node.description ?? '',
    kind: node.type,
    initial: initial === undefined ? null : pathOf(initial),
    tags: node.tags
  }
}

function transitionsOf(node: AnyStateNode): ChartTransition[] {
  return [...node.transitions.values()].flat().map(definition => transitionOf(node, definition))
}

function transitionOf(node: AnyStateNode, definition: AnyTransitionDefinition): ChartTransition {
  const { target, guard, actions, description } = definition
  if (target !== undefined && target.length > 1) throw new Error(`A transition of ${node.id} has several targets.`)
  return {
    source: pathOf(node),
    event: definition.eventType,
    guard: guard === undefined ? null : nameOf(guard, node),
    target: target?.[0] === undefined ? null : pathOf(target[0]),
    actions: actions.map(action => nameOf(action, node)),
    description: description ?? ''
  }
}

/** Of a guard or an action that is given by its name, as a text or with parameters. */
function nameOf(part: unknown, node: AnyStateNode): string {
  if (typeof part === 'string') return part
  if (typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string') return part.type
  throw new Error(`The state ${node.id} has an inline function: give it a name in setup().`)
}
