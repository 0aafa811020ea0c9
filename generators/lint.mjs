// Lints an OpenAPI document with the rules that Redocly recommends; prints the problems as JSON.
//   node generators/lint.mjs FILE
import { createConfig, lint } from '@redocly/openapi-core'

const config = await createConfig({
  extends: ['recommended'],
  rules: {
    // The service is not published: it has no licence, and no address but that of `npm start`.
    'info-license': 'off',
    'no-server-example.com': 'off',
    // `Error` has the codes of all answers, for code that treats them alike.
    'no-unused-components': 'off'
  }
})
const problems = await lint({ ref: process.argv[2], config })
const rows = problems.map(({ severity, ruleId, message, location }) => ({
  severity,
  ruleId,
  message,
  pointer: location[0]?.pointer
}))
process.stdout.write(`${JSON.stringify(rows)}\n`)
