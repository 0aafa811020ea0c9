/** The route of what the service can do. */
import { capabilitiesSchema } from './capabilities.js'
import type { RouteFacts } from './route.js'

export const capabilitiesRoutes = {
  readCapabilities: {
    method: 'GET',
    path: '/v1/capabilities',
    permission: 'payments:read',
    tag: 'Service',
    summary: 'What this service can do',
    text: 'Limits and addresses, which depend on the environment of the key.',
    answers: [{ status: 200, schema: capabilitiesSchema, means: 'What it can do.' }],
    errors: []
  }
} as const satisfies Readonly<Record<string, RouteFacts>>
