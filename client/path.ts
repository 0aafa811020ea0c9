/** `/v1/payments/<id>`. Throws a `TypeError` for what cannot be an id, so that no other address is asked. */
export function pathOf(collection: string, id: string): string {
  if (/^[\w-]+$/.test(id)) return `/v1/${collection}/${id}`
  throw new TypeError(`${JSON.stringify(id)} is not an id of ${collection}.`)
}
