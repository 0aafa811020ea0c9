/** Loaded by mocha before the test files (`.mocharc.json`). */
import { stopTestBrowser } from './browser.js'
import { holdAnswersAgainstDocument } from './documented-answers.js'
import { stopTestPostgres } from './postgres.js'
import { stopTestRedis } from './redis.js'
import { stopSharedService } from './service.js'

holdAnswersAgainstDocument()

/** Mocha calls it by this name, once, after the last test. */
export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.all([stopTestBrowser(), stopTestRedis(), stopTestPostgres(), stopSharedService()])
}
