import { expect } from 'chai'
import { Tools } from './tools.js'

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
      [() => tools.python(), /no python3 on the PATH: install Python/],
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
