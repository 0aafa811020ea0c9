/** Checks what a page gives to `Service.fields`: a mistake throws at once, for the engineer who makes it. */
import type { FieldsOptions } from './fields-api.js'
import { isRecord } from './protocol.js'
import { cssVariables } from './style-options.js'
import { LOCALES } from './texts.js'

const OPTIONS: Readonly<Record<keyof FieldsOptions, true>> = {
  publishableKey: true,
  element: true,
  locale: true,
  style: true,
  onChange: true
}

/** Where the fields go. Throws a `TypeError` for every mistake in the options. */
export function placeOf(options: unknown): HTMLElement {
  if (!isRecord(options)) {
    throw new TypeError(
      'Service.fields needs an object, such as { publishableKey: "svc_test.…", element: "#card-fields" }'
    )
  }
  const { element, publishableKey, locale, style, onChange } = options
  const unknown = Object.keys(options).find(name => !Object.hasOwn(OPTIONS, name))
  if (unknown !== undefined) throw mistake(unknown, `is not an option; choose from ${Object.keys(OPTIONS).join(', ')}`)
  const place = typeof element === 'string' ? document.querySelector(element) : element
  if (!(place instanceof HTMLElement)) throw mistake('element', 'is not an element of this page')
  if (!/^svc_(test|live)\.[^.]+$/.test(String(publishableKey))) {
    throw mistake('publishableKey', 'must be a publishable key; never put a secret key into a page')
  }
  if (locale !== undefined && !LOCALES.some(known => known === locale)) {
    throw mistake('locale', `must be ${LOCALES.join(' or ')}`)
  }
  if (onChange !== undefined && typeof onChange !== 'function') throw mistake('onChange', 'must be a function')
  cssVariables(style)
  return place
}

function mistake(option: string, problem: string): TypeError {
  return new TypeError(`Service.fields: \`${option}\` ${problem}`)
}
