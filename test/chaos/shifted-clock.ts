/**
 * Loaded before a process (`node --import`): its machine's clock is wrong. In a chaos run, in each life by another
 * amount; with `?ms=400000` behind the name of this file, by that. Run, not imported from.
 */

/** Far more than the horizon of a chaos run. With more than a minute `timers` does nothing. */
const SHIFTS_MS = [-50_000, 0, 0, 50_000] as const

const MachineDate = Date
const given = new URL(import.meta.url).searchParams.get('ms')
const shiftMs = given === null ? (SHIFTS_MS[process.pid % SHIFTS_MS.length] ?? 0) : Number(given)
const now = (): number => MachineDate.now() + shiftMs

if (shiftMs !== 0) {
  globalThis.Date = new Proxy(MachineDate, {
    construct: (date, args, newTarget) => Reflect.construct(date, args.length === 0 ? [now()] : args, newTarget),
    get: (date, name) => (name === 'now' ? now : Reflect.get(date, name))
  })
  process.stdout.write(`the clock of this process is ${shiftMs} ms off\n`)
}

export {}
