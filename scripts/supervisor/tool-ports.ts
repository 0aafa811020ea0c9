/** Where the tools listen that run beside `npm start`: far from its own ports, which are 3000 to 3003 and 10 more for each instance. */
export const toolPorts = {
  shop: 4000,
  inspector: 4010,
  webhooksListen: 4011,
  shopWebhooks: 4012
} as const

/** The value of an option such as `--port`. Throws a sentence when it is no port. */
export function portOf(option: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new Error(`--${option} ${text} is not a port: give a number from 0 to 65535.`)
  return port
}
