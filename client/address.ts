/** The addresses that the client requests: below an address that the merchant gave, and about one id. */

/** Throws a `TypeError` that names the option when its text is no address that requests can be sent to. */
export function checkedAddress(option: string, text: string): URL {
  const url = typeof text === 'string' ? parsed(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`\`${option}\` must be a URL, such as https://payments.example.`)
  }
  const extra = url.username || url.password || url.search || url.hash
  if (extra !== '') throw new TypeError(`\`${option}\` must be a URL without a user, a query and a fragment.`)
  return url
}

/** Null: it is no URL. Not by `URL.canParse`, which Node 20 and 22 compile into one that denies letters such as ü. */
function parsed(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** `path` below an address, whose own path stays: a gateway may serve the API at `https://shop.example/card-payments`. */
export function below(address: URL, path: string): URL {
  const url = new URL(address)
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`
  return url
}

/** `/v1/payments/<id>`. Throws a `TypeError` for what cannot be an id, so that no other address is requested. */
export function pathOf(collection: string, id: string): string {
  if (typeof id === 'string' && /^[\w-]+$/.test(id)) return `/v1/${collection}/${id}`
  throw new TypeError(`${typeof id === 'string' ? JSON.stringify(id) : String(id)} is not an id of ${collection}.`)
}
