/** Finding a secret in a heap of bytes, in the forms that programs write bytes in. */

/** What to look for, and what to call it in a report: the report must not be the next leak. */
export interface Needle {
  readonly name: string
  readonly forms: readonly (string | RegExp)[]
}

/** A long secret: as it is, in base64 at any of its three places in a group, in hexadecimal. */
export function longSecret(name: string, secret: string): Needle {
  const hex = Buffer.from(secret).toString('hex')
  return { name, forms: [secret, grouped(secret), ...base64Forms(secret), hex, hex.toUpperCase()] }
}

/**
 * A few digits are found by chance in any id; alone, between characters of no word or number, they mean something. The keys of sales
 * end in four digits of a hash: they have no room for a secret.
 */
export function shortSecret(name: string, digits: string): Needle {
  const alone = (text: string): RegExp => new RegExp(`(?<![\\w.-]|\\{p\\d\\d\\}:sales:)${text}(?![\\w.-])`)
  const base64 = Buffer.from(digits).toString('base64').replaceAll('=', '')
  return { name, forms: [alone(digits), alone(base64), alone(Buffer.from(digits).toString('hex'))] }
}

/** The names of the secrets that `bytes` contain. */
export function findNeedles(bytes: Buffer | string, needles: readonly Needle[]): string[] {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1')
  const isIn = (form: string | RegExp): boolean => (typeof form === 'string' ? text.includes(form) : form.test(text))
  return needles.filter(({ forms }) => forms.some(isIn)).map(({ name }) => name)
}

/** Four digits and a space, as people and forms write card numbers. */
function grouped(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ')
}

/** Base64 works on groups of three bytes: what stands before the secret decides how its characters fall. */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].map(before => {
    const text = Buffer.from(`${'x'.repeat(before)}${secret}`)
      .toString('base64')
      .replaceAll('=', '')
    const touchedByTheRest = (before + secret.length) % 3 === 0 ? 0 : 1
    return text.slice(before === 0 ? 0 : before + 1, text.length - touchedByTheRest)
  })
}
