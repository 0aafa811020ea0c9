/** Mocha's usual report, and in a file for `npm test`: the totals, what failed, and what each test file took. */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import Mocha from 'mocha'
import { messageOf } from '../../runtime/message-of.js'
import { processorSeconds } from './processor-time.js'

export interface Totals {
  readonly passed: number
  readonly failed: number
  /** What failed, and why: one text per failure. */
  readonly failures: readonly string[]
  readonly files: readonly FileTime[]
}

/** `processorS`: of all processes that ran meanwhile. A server that files share counts for the first of them that uses it. */
export interface FileTime {
  readonly file: string
  readonly wallS: number
  readonly processorS: number
}

export default class CountingReporter extends Mocha.reporters.Spec {
  readonly #times = new Map<string, FileTime>()
  readonly #failures: string[] = []
  #file: string | undefined
  #beganMs = 0
  #usedS = 0

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    const file: unknown = options.reporterOptions?.['totals']
    if (typeof file !== 'string') throw new Error('counting-reporter: --reporter-option totals=FILE is required')
    runner.on('suite', suite => {
      if (suite.parent?.root) this.#enter(suite.file)
    })
    runner.on('fail', (test, error: unknown) => {
      const file = test.file === undefined ? '' : `${nameOf(test.file)}: `
      this.#failures.push(`${file}${test.fullTitle()}: ${messageOf(error)}`)
    })
    runner.once('end', () => {
      this.#enter(undefined)
      const totals: Totals = {
        passed: this.stats.passes,
        failed: this.stats.failures,
        failures: this.#failures,
        files: [...this.#times.values()]
      }
      writeFileSync(file, JSON.stringify(totals))
    })
  }

  /** Ends the account of the file before, and begins one for this file. */
  #enter(next: string | undefined): void {
    const [nowMs, nowS] = [performance.now(), processorSeconds()]
    if (this.#file !== undefined) {
      const { wallS = 0, processorS = 0 } = this.#times.get(this.#file) ?? {}
      this.#times.set(this.#file, {
        file: this.#file,
        wallS: wallS + (nowMs - this.#beganMs) / 1_000,
        processorS: processorS + nowS - this.#usedS
      })
    }
    this.#file = next === undefined ? undefined : nameOf(next)
    this.#beganMs = nowMs
    this.#usedS = nowS
  }
}

/** The source of a built test file. */
function nameOf(file: string): string {
  return relative('dist', file).replace(/js$/, 'ts')
}
