/** The form in the frame: formats while the buyer types, marks what is wrong when a field is left, and reads the card. */
import { brandOf } from '../../../machines/card-brands.js'
import { FIELD_NAMES, type FieldName, type ProblemCode, problemOf, type TypedCard } from './card-rules.js'
import type { Texts } from './texts.js'
import { caretIn, digitsOf, formatExpiry, formatNumber, layoutOf } from './typing.js'

const BRAND_NAMES: Readonly<Record<string, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  elo: 'Elo',
  amex: 'Amex',
  hipercard: 'Hipercard',
  diners: 'Diners',
  discover: 'Discover',
  jcb: 'JCB'
}

/**
 * How long the buyer's press on the button of the page may go on after it has reached the frame: the button has been
 * pressed but not released yet, or the browser's word that the button has the focus is slower than the page's order.
 */
const PRESS_MS = 300

const FORMATS: Partial<Record<FieldName, (text: string) => string>> = { number: formatNumber, expiry: formatExpiry }

export interface CardForm {
  /** The brand of the number as far as it was typed, or `null`. */
  brand(): string | null
  isComplete(): boolean
  card(): TypedCard
  /** Shows every broken rule, with the cursor in the first field of them; empty when the card may be sent. */
  check(): readonly (readonly [FieldName, ProblemCode])[]
  /** Shows what `tokens` found. */
  mark(problems: Readonly<Partial<Record<FieldName, ProblemCode>>>): void
  /** While a card is on its way nothing can be changed. */
  lock(isLocked: boolean): void
  /** Empties the security code after the card became a token: PCI DSS forbids to keep it. */
  forgetCvv(): void
  focus(): void
}

export function createCardForm(form: HTMLFormElement, texts: Texts, onChange: () => void): CardForm {
  const inputOf = (name: FieldName): HTMLInputElement => elementOf(`#${name}`, HTMLInputElement)
  const card = (): TypedCard => ({
    number: inputOf('number').value,
    expiry: inputOf('expiry').value,
    cvv: inputOf('cvv').value,
    name: inputOf('name').value
  })
  const brand = (): string | null => brandOf(digitsOf(card().number))
  const problemIn = (name: FieldName): ProblemCode | null => problemOf(name, card(), Date.now())
  const show = (name: FieldName, problem: ProblemCode | null): void => {
    inputOf(name).setAttribute('aria-invalid', String(problem !== null))
    elementOf(`#${name}-error`, HTMLElement).textContent = problem === null ? '' : texts.problems[problem]
  }
  const mark = (problems: Readonly<Partial<Record<FieldName, ProblemCode>>>): void => {
    for (const name of FIELD_NAMES) show(name, problems[name] ?? null)
    const first = FIELD_NAMES.find(name => problems[name] !== undefined)
    if (first !== undefined) focusFirmly(inputOf(first))
  }

  label(texts)
  for (const name of FIELD_NAMES) {
    const input = inputOf(name)
    input.addEventListener('input', () => {
      reformat(name, input, layoutOf(digitsOf(card().number)).cvvDigits)
      // A mark goes away as soon as its reason does, and comes only when the field is left.
      if (input.getAttribute('aria-invalid') === 'true' && problemIn(name) === null) show(name, null)
      if (name === 'number') showBrand(inputOf('cvv'), digitsOf(input.value), texts)
      onChange()
    })
    input.addEventListener('blur', ({ relatedTarget }) => {
      const markWhenWrong = (): void => {
        const problem = input.value === '' ? null : problemIn(name)
        if (problem !== null) show(name, problem)
      }
      // Out of the frame one goes to press the button of the page: a mark at once would move it away under the finger.
      setTimeout(markWhenWrong, relatedTarget === null ? PRESS_MS : 0)
    })
  }
  form.hidden = false

  return {
    brand,
    card,
    mark,
    isComplete: () => FIELD_NAMES.every(name => problemIn(name) === null),
    check: () => {
      const found = FIELD_NAMES.flatMap(name => {
        const problem = problemIn(name)
        return problem === null ? [] : [[name, problem] as const]
      })
      mark(Object.fromEntries(found))
      return found
    },
    lock: isLocked => {
      for (const name of FIELD_NAMES) inputOf(name).readOnly = isLocked
    },
    forgetCvv: () => {
      inputOf('cvv').value = ''
    },
    focus: () => inputOf('number').focus()
  }
}

/** Has the focus in `input`, also when a press on the page's button takes it away again. */
function focusFirmly(input: HTMLInputElement): void {
  const takeBack = (): void => void setTimeout(() => input.focus())
  input.focus()
  window.addEventListener('blur', takeBack, { once: true })
  setTimeout(() => window.removeEventListener('blur', takeBack), PRESS_MS)
}

function label(texts: Texts): void {
  for (const name of FIELD_NAMES) elementOf(`label[for=${name}]`, HTMLElement).textContent = texts.labels[name]
  elementOf('#expiry', HTMLInputElement).placeholder = texts.expiryHint
  elementOf('#cvv', HTMLInputElement).placeholder = texts.cvvHint(3)
}

/** Keeps the caret where the buyer is typing, also in the middle of a number. */
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

/** The element of frame.html; its absence is a mistake of ours. */
export function elementOf<E extends HTMLElement>(selector: string, kind: new () => E): E {
  const found = document.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`frame.html has no ${selector}`)
  return found
}
