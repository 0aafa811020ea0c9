/** Mocha's usual report, and its two totals in a file for `npm test`, whose last line they are. */
import { writeFileSync } from 'node:fs'
import Mocha from 'mocha'

export interface Totals {
  readonly passed: number
  readonly failed: number
}

export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    const file: unknown = options.reporterOptions?.['totals']
    if (typeof file !== 'string') throw new Error('counting-reporter: --reporter-option totals=FILE is required')
    runner.once('end', () => {
      const totals: Totals = { passed: this.stats.passes, failed: this.stats.failures }
      writeFileSync(file, JSON.stringify(totals))
    })
  }
}
