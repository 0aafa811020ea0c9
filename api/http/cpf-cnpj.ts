/**
 * CPF and CNPJ (docs/API.md#post-v1payments), without separators, with valid check digits.
 *
 * The library computes the check digits. Its `isValid` is not used, because it accepts separators and refuses
 * 123.456.789-09, which has valid check digits.
 */
import { cnpj, cpf } from 'cpf-cnpj-validator'

/** 11 digits, not all the same, with valid check digits. */
export function isCpf(text: string): boolean {
  return /^\d{11}$/.test(text) && !isRepeated(text) && hasCheckDigits(text, cpf.verifierDigit)
}

/**
 * 12 digits or capital letters (issued since July 2026) and two valid check digits. A letter counts as its ASCII code
 * minus 48, as a digit does: `12ABC34501DE35`.
 */
export function isCnpj(text: string): boolean {
  return /^[\dA-Z]{12}\d\d$/.test(text) && !isRepeated(text) && hasCheckDigits(text, cnpj.verifierDigit)
}

/** Sequences such as 111.111.111-11 pass the arithmetic, but are never issued. */
function isRepeated(text: string): boolean {
  return /^(\d)\1*$/.test(text)
}

function hasCheckDigits(text: string, checkDigitOf: (base: string) => number): boolean {
  const base = text.slice(0, -2)
  const first = checkDigitOf(base)
  return text === `${base}${first}${checkDigitOf(`${base}${first}`)}`
}
