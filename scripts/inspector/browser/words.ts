/** Texts of the page. */

/** `R$ 100.00` from cents. */
export function money(cents: number): string {
  return `R$ ${(cents / 100).toFixed(2)}`
}

/** `12:00:01.250`, local time. */
export function clock(atMs: number): string {
  const date = new Date(atMs)
  return `${date.toLocaleTimeString('en-GB')}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** The begin and the end of an id: ids of one time begin alike. */
export function shortId(id: string): string {
  return id.length > 14 ? `${id.slice(0, 4)}…${id.slice(-9)}` : id
}

/** `capturing`, of `capturing.reconciling`. */
export function statusOf(place: string): string {
  return place.split('.')[0] ?? place
}

/** `found captured` */
export function eventWords(event: string): string {
  return event.toLowerCase().replaceAll('_', ' ')
}
