/**
 * One pure step of a machine: the next snapshot and the actions with their params, none of them run.
 *
 * XState's own `transition()` does the same, but builds an actor for every call: 18 of its 22 microseconds (measured).
 * This one builds it once per machine and uses the public `ActorLogic.transition`. `null`: the state does not take the event.
 */
import { type AnyActorScope, type AnyStateMachine, createActor, type EventFromLogic, type SnapshotFrom } from 'xstate'

export type PureStep<M extends AnyStateMachine> = (
  snapshot: SnapshotFrom<M>,
  event: EventFromLogic<M>
) => { readonly next: SnapshotFrom<M>; readonly actions: readonly PureAction[] } | null

/** An action that the chart names and that changes no context. */
export interface PureAction {
  readonly type: string
  readonly params: unknown
}

/** The steps of one machine. Its initial context must not look into its input: no step begins there. */
export function pureStepOf<M extends AnyStateMachine>(machine: M): PureStep<M> {
  const anyMachine: AnyStateMachine = machine
  const self = createActor(anyMachine)
  return (snapshot, event) => {
    const actions: PureAction[] = []
    const scope: AnyActorScope = {
      self,
      id: '',
      sessionId: '',
      logger: () => undefined,
      defer: () => undefined,
      emit: () => undefined,
      stopChild: () => undefined,
      system: self.system,
      actionExecutor: action => {
        actions.push(action)
      }
    }
    const next = anyMachine.transition(snapshot, event, scope) as SnapshotFrom<M>
    return next === snapshot && actions.length === 0 ? null : { next, actions }
  }
}
