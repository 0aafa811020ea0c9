/** The form in the frame: formats typed text, marks a wrong field when the buyer leaves it, and reads the card. */
import { brandOf } from '../../../machines/card-brands.js'
import { type EnteredCard, FIELD_NAMES, type FieldName, type ProblemCode, problemOf } from './card-rules.js'
import type { Texts } from './texts.js'
import { caretIn, cvvLengthsOf, digitsOf, formatExpiry, formatNumber, layoutOf } from './typing.js'

const BRAND_NAMES: Readonly<Record<string, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  elo: 'Elo',
  amex: 'Amex',
  hipercard: 'Hipercard',
  hiper: 'Hiper',
  aura: 'Aura',
  diners: 'Diners',
  discover: 'Discover',
  jcb: 'JCB'
}

/**
 * How long a press on the button of the page may still affect the frame: the button is not released yet, or the event of its
 * focus arrives after the order of the page.
 */
const PRESS_MS = 300

const FORMATS: Partial<Record<FieldName, (text: string) => string>> = { number: formatNumber, expiry: formatExpiry }

export interface CardForm {
  /** The brand of the number as far as it was typed, or `null`. */
  brand(): string | null
  isComplete(): boolean
  card(): EnteredCard
  /** Marks every broken rule, and focuses the first wrong field; empty when the card may be sent. */
  check(): readonly (readonly [FieldName, ProblemCode])[]
  /** Marks the problems that `tokens` found. */
  mark(problems: Readonly<Partial<Record<FieldName, ProblemCode>>>): void
  /** Makes the fields read-only while the card is sent. */
  lock(isLocked: boolean): void
  /** Empties all fields: the card became a token, or the page is left. */
  empty(): void
  focus(): void
}

/**
 * @param cvvOf the brand of a stored card ('': unknown) whose security code is asked for; absent: a whole card is
 */
export function createCardForm(form: HTMLFormElement, texts: Texts, onChange: () => void, cvvOf?: string): CardForm {
  const names: readonly FieldName[] = cvvOf === undefined ? FIELD_NAMES : ['cvv']
  const inputOf = (name: FieldName): HTMLInputElement => elementOf(`#${name}`, HTMLInputElement)
  const card = (): EnteredCard => ({
    number: inputOf('number').value,
    expiry: inputOf('expiry').value,
    cvv: inputOf('cvv').value,
    name: inputOf('name').value
  })
  const brand = (): string | null => brandOf(digitsOf(card().number))
  const cvvLengths = (): readonly number[] =>
    cvvOf === undefined ? [layoutOf(digitsOf(card().number)).cvvDigits] : cvvLengthsOf(cvvOf)
  const problemIn = (name: FieldName): ProblemCode | null =>
    problemOf(name, card(), { nowMs: Date.now(), cvvLengths: cvvLengths() })
  const show = (name: FieldName, problem: ProblemCode | null): void => {
    inputOf(name).setAttribute('aria-invalid', String(problem !== null))
    elementOf(`#${name}-error`, HTMLElement).textContent = problem === null ? '' : texts.problems[problem]
  }
  const mark = (problems: Readonly<Partial<Record<FieldName, ProblemCode>>>): void => {
    for (const name of names) show(name, problems[name] ?? null)
    const first = names.find(name => problems[name] !== undefined)
    if (first !== undefined) focusFirmly(inputOf(first))
  }

  label(texts)
  showOnly(names)
  inputOf('cvv').placeholder = texts.cvvHint(...cvvLengths())
  for (const name of names) {
    const input = inputOf(name)
    input.addEventListener('input', () => {
      reformat(name, input, Math.max(...cvvLengths()))
      // Removes a mark at once when its reason is gone; marks are set only when the buyer leaves the field.
      if (input.getAttribute('aria-invalid') === 'true' && problemIn(name) === null) show(name, null)
      if (name === 'number') showBrand(inputOf('cvv'), digitsOf(input.value), texts)
      onChange()
    })
    input.addEventListener('blur', ({ relatedTarget }) => {
      const markWhenWrong = (): void => {
        const problem = input.value === '' ? null : problemIn(name)
        if (problem !== null) show(name, problem)
      }
      // A buyer who leaves the frame may press the button of the page, which an immediate mark would move.
      setTimeout(markWhenWrong, relatedTarget === null ? PRESS_MS : 0)
    })
  }
  form.hidden = false

  return {
    brand,
    card,
    mark,
    isComplete: () => names.every(name => problemIn(name) === null),
    check: () => {
      const found = names.flatMap(name => {
        const problem = problemIn(name)
        return problem === null ? [] : [[name, problem] as const]
      })
      mark(Object.fromEntries(found))
      return found
    },
    lock: isLocked => {
      for (const name of names) inputOf(name).readOnly = isLocked
    },
    empty: () => {
      form.reset()
      if (cvvOf === undefined) showBrand(inputOf('cvv'), '', texts)
      onChange()
    },
    focus: () => inputOf(cvvOf === undefined ? 'number' : 'cvv').focus()
  }
}

/** Focuses `input`, and again when a press on the page's button takes the focus. */
function focusFirmly(input: HTMLInputElement): void {
  const takeBack = (): void => void setTimeout(() => input.focus())
  input.focus()
  window.addEventListener('blur', takeBack, { once: true })
  setTimeout(() => window.removeEventListener('blur', takeBack), PRESS_MS)
}

function label(texts: Texts): void {
  for (const name of FIELD_NAMES) elementOf(`label[for=${name}]`, HTMLElement).textContent = texts.labels[name]
  elementOf('#expiry', HTMLInputElement).placeholder = texts.expiryHint
}

/** Hides the fields that are not asked for; one alone takes the whole line. */
function showOnly(names: readonly FieldName[]): void {
  for (const name of FIELD_NAMES) {
    const field = elementOf(`.field:has(#${name})`, HTMLElement)
    field.hidden = !names.includes(name)
    if (names.length === 1) field.classList.add('wide')
  }
}

/** Keeps the caret at its digit, also in the middle of a number. */
function reformat(name: FieldName, input: HTMLInputElement, cvvDigits: number): void {
  if (name === 'cvv') input.value = digitsOf(input.value).slice(0, cvvDigits)
  const format = FORMATS[name]
  if (format === undefined) return
  const caret = input.selectionStart ?? input.value.length
  const isAtEnd = caret === input.value.length
  const digitsBefore = digitsOf(input.value.slice(0, caret)).length
  const formatted = format(input.value)
  if (formatted === input.value) return
  input.value = formatted
  const place = isAtEnd ? formatted.length : caretIn(formatted, digitsBefore)
  input.setSelectionRange(place, place)
}

function showBrand(cvv: HTMLInputElement, digits: string, texts: Texts): void {
  elementOf('#number-brand', HTMLElement).textContent = BRAND_NAMES[brandOf(digits) ?? ''] ?? ''
  cvv.placeholder = texts.cvvHint(layoutOf(digits).cvvDigits)
}

/** An element of frame.html. Its absence is a bug. */
export function elementOf<E extends HTMLElement>(selector: string, kind: new () => E): E {
  const found = document.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`frame.html has no ${selector}`)
  return found
}
