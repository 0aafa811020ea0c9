import { expect } from 'chai'
import { fetching, NotAvailable } from './run.js'
import { Tools } from './tools.js'

const failureOf = (script: string, deadlineMs: number): Promise<unknown> =>
  fetching(process.execPath, ['-e', script], { deadlineMs }).catch((error: unknown) => error)

describe('what the clients drill fetches', () => {
  it('is not available where a registry does not answer, and a failure where it says no', async () => {
    const saying = (text: string): string => `console.error(${JSON.stringify(text)}); process.exit(1)`
    for (const text of [
      'Could not transfer artifact a:b:1 from/to central',
      'dial tcp: i/o timeout',
      'npm error code ETIMEDOUT'
    ]) {
      expect(await failureOf(saying(text), 30_000), text).to.be.instanceOf(NotAvailable)
    }
    expect(await failureOf('setInterval(() => undefined, 1000)', 500), 'silence').to.be.instanceOf(NotAvailable)
    const refused = await failureOf(saying('ERROR: No matching distribution found for urllib4'), 30_000)
    expect(refused).to.be.instanceOf(Error).and.not.instanceOf(NotAvailable)
  })
})

describe('the clients drill on a machine without other languages', () => {
  const path = process.env['PATH']
  before(() => {
    process.env['PATH'] = '/nowhere'
  })
  after(() => {
    process.env['PATH'] = path
  })

  it('fails with what to install', async () => {
    const tools = new Tools('/nowhere', () => undefined)
    for (const [obtain, words] of [
      [() => tools.openapiGenerator(), /no java and no mvn on the PATH: install Java 17.*, and Maven/],
      [() => tools.oapiCodegen(), /no go on the PATH: install Go/],
      [() => tools.openapiPythonClient(), /no python3 on the PATH: install Python/],
      [() => tools.rust(), /no cargo on the PATH: install Rust/]
    ] as const) {
      const message = await obtain().then(
        () => 'nothing',
        (error: Error) => error.message
      )
      expect(message).to.match(words)
    }
  })
})
