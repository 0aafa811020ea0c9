/** Registers a webhook URL through the API, as a merchant does. */

/** Resolves to the signing secret. Rejects with what the API said. */
export async function registerHook(baseUrl: string, apiKey: string, url: string): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/webhook-endpoint`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url })
  }).catch((error: unknown) => {
    throw new Error(`The API at ${baseUrl} does not answer. Is \`npm start\` running?`, { cause: error })
  })
  const text = await response.text()
  const secret: unknown = response.ok ? JSON.parse(text).secret : undefined
  if (typeof secret !== 'string') throw new Error(`The API did not register ${url}: ${response.status} ${text}`)
  return secret
}
