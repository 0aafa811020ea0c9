/**
 * How a merchant may style the fields: a closed list of options, each with a pattern. No accepted value can load a resource,
 * affect another property, or hide what a buyer must see.
 */
import type { FieldsStyle } from './fields-values.js'

const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i
const LENGTH = /^\d{1,2}(?:\.\d{1,2})?(?:px|rem)$/

/** The same in words, for the developer of the page. */
const FORMS: ReadonlyMap<RegExp, string> = new Map([
  [COLOR, 'a colour in hex, such as #1f5fd6 or #fff'],
  [LENGTH, 'a length such as 8px or 0.5rem']
])

/** Each option is the CSS variable of the same name (`colorText`: `--color-text`) in frame.css. */
const OPTIONS = {
  colorText: COLOR,
  colorLabel: COLOR,
  colorBackground: COLOR,
  colorBorder: COLOR,
  colorFocus: COLOR,
  colorError: COLOR,
  colorPlaceholder: COLOR,
  fontFamily: /^(?:sans-serif|serif|monospace|system-ui)$/,
  fontSize: /^(?:1[4-9]|2[0-4])px$/,
  borderRadius: LENGTH,
  gap: LENGTH
} as const satisfies Readonly<Record<keyof FieldsStyle, RegExp>>

/** Name and value of each CSS variable. Throws a `TypeError` that names an unknown or invalid option. */
export function cssVariables(style: unknown): readonly (readonly [name: string, value: string])[] {
  if (style === undefined || style === null) return []
  if (typeof style !== 'object') throw new TypeError('`style` must be an object')
  return Object.entries(style).map(([option, value]: [string, unknown]) => {
    if (!isOption(option)) {
      throw new TypeError(`\`style.${option}\` is not an option; choose from ${Object.keys(OPTIONS).join(', ')}`)
    }
    if (typeof value !== 'string' || !OPTIONS[option].test(value)) {
      throw new TypeError(
        `\`style.${option}\` must be ${FORMS.get(OPTIONS[option]) ?? WORDS[option] ?? 'another value'}`
      )
    }
    return [`--${option.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`, value]
  })
}

const WORDS: Readonly<Record<string, string>> = {
  fontFamily: 'sans-serif, serif, monospace or system-ui',
  fontSize: '14px to 24px'
}

function isOption(name: string): name is keyof FieldsStyle {
  return Object.hasOwn(OPTIONS, name)
}
