/**
 * Loaded before a process of a chaos run (`node --import`): its machine's clock is wrong, in each life by another
 * amount. Run, not imported from.
 */

/** Far more than the horizon of a chaos run. */
const SHIFTS_MS = [-90_000, 0, 0, 90_000] as const

const MachineDate = Date
const shiftMs = SHIFTS_MS[process.pid % SHIFTS_MS.length] ?? 0
const now = (): number => MachineDate.now() + shiftMs

if (shiftMs !== 0) {
  globalThis.Date = new Proxy(MachineDate, {
    construct: (date, args, newTarget) => Reflect.construct(date, args.length === 0 ? [now()] : args, newTarget),
    get: (date, name) => (name === 'now' ? now : Reflect.get(date, name))
  })
  process.stdout.write(`the clock of this process is ${shiftMs} ms off\n`)
}

export {}
