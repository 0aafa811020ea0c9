/** Loaded by mocha before the test files (`.mocharc.json`). */
import { endOfTimers, stopAll } from './after-last-test.js'
import { holdAnswersAgainstDocument } from './documented-answers.js'

holdAnswersAgainstDocument()

/** Mocha calls it by this name, once, after the last test. */
export const mochaGlobalTeardown = async (): Promise<void> => {
  await stopAll()
  endOfTimers()
}
