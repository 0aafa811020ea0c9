/** The machines that diagrams, documentation and the inspector show. */
import type { AnyStateMachine } from 'xstate'
import { paymentMachine } from './payment/machine.js'

export const machines: readonly AnyStateMachine[] = [paymentMachine]
