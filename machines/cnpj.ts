/** Tax numbers of Brazilian companies, which may look like card numbers. */

const WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]

/** Whether 14 characters (12 digits or capital letters, then two digits) have the check digits of a CNPJ. */
export function hasCnpjCheckDigits(text: string): boolean {
  if (!/^[\dA-Z]{12}\d\d$/.test(text)) return false
  const first = checkDigit(text.slice(0, 12))
  return text.slice(12) === `${first}${checkDigit(`${text.slice(0, 12)}${first}`)}`
}

/** A letter counts as its ASCII code minus 48, as a digit does. */
function checkDigit(base: string): number {
  const weights = WEIGHTS.slice(WEIGHTS.length - base.length)
  const sum = weights.reduce((total, weight, at) => total + weight * (base.charCodeAt(at) - 48), 0)
  return sum % 11 < 2 ? 0 : 11 - (sum % 11)
}
