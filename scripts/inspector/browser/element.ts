/** Builds elements. Text is set as text, so no content of a payment becomes markup. */

type Child = Node | string | null

/** `element('p', { class: 'faint' }, 'text', other)`; a null child is left out. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children.filter(child => child !== null))
  return made
}

export function button(
  text: string,
  onClick: () => void,
  attributes: Readonly<Record<string, string>> = {}
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text)
  made.addEventListener('click', onClick)
  return made
}

/** Replaces the children of `root`. Focus on a button moves to the new one with the same text that is not folded, or to the first one. */
export function redraw(root: HTMLElement, ...children: readonly Node[]): void {
  const focused = document.activeElement
  const words = focused instanceof HTMLButtonElement && root.contains(focused) ? focused.textContent : null
  root.replaceChildren(...children)
  if (words === null) return
  const buttons = [...root.querySelectorAll('button')].filter(made => made.closest('details:not([open])') === null)
  const same = buttons.find(({ textContent }) => textContent === words)
  const next = same ?? root.querySelector<HTMLElement>('ol button') ?? buttons[0]
  next?.focus()
}

/** An element that page.html contains. */
export function existing(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector)
  if (found === null) throw new Error(`page.html has no ${selector}`)
  return found
}
