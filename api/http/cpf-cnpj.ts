/**
 * CPF and CNPJ (docs/API.md#post-v1payments): digits only, with valid check digits.
 *
 * The library computes the check digits; its own `isValid` is not used, because it accepts masks and the letters of the
 * new CNPJ, which our contract does not, and refuses 123.456.789-09, which has valid check digits.
 */
import { cnpj, cpf } from 'cpf-cnpj-validator'

/** 11 digits, not all the same, with valid check digits. */
export function isCpf(text: string): boolean {
  return /^\d{11}$/.test(text) && !isRepeated(text) && hasCheckDigits(text, cpf.verifierDigit)
}

/** 14 digits, not all the same, with valid check digits. */
export function isCnpj(text: string): boolean {
  return /^\d{14}$/.test(text) && !isRepeated(text) && hasCheckDigits(text, cnpj.verifierDigit)
}

/** Sequences such as 111.111.111-11 pass the arithmetic, but are never issued. */
function isRepeated(text: string): boolean {
  return /^(\d)\1*$/.test(text)
}

function hasCheckDigits(text: string, checkDigitOf: (digits: string) => number): boolean {
  const base = text.slice(0, -2)
  const first = checkDigitOf(base)
  return text === `${base}${first}${checkDigitOf(`${base}${first}`)}`
}
