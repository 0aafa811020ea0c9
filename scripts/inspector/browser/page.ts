/** The inspector's page: payments on the left, the chart in the middle, facts on the right. */
import type { MachineView, SeenPayment } from '../view-model.js'
import { ChartPanel } from './chart-panel.js'
import { paymentDetails } from './details.js'
import { element, existing } from './element.js'
import { listen } from './feed.js'
import { PaymentList } from './payment-list.js'
import { WhatIfPanel } from './what-if-panel.js'

type Mode = 'live' | 'what-if'

const STATUS_EVERY_MS = 2_000
/** Bounds a page that is open for days: the payments that changed longest ago are dropped. As many as the server keeps. */
const PAYMENTS_MAX = 200

const [side, details] = [existing('#side'), existing('#details')]
const payments = new Map<string, SeenPayment>()
const machine = (await (await fetch('/machine.json')).json()) as MachineView
const charts = new ChartPanel(existing('#charts'), machine)
const list = new PaymentList(select, () => {
  isFollowingNewest = !isFollowingNewest
  if (isFollowingNewest) selected = newest ?? selected
  draw()
})
let mode: Mode = 'live'
let selected: string | undefined
/** The payment that appeared last. */
let newest: string | undefined
/** Until the viewer chooses a payment. */
let isFollowingNewest = true
let isDrawingPlanned = false
/**
 * What chart and details show: a payment, or null; undefined in the other mode. They are redrawn only when this changes, which
 * keeps scrolling and marked text.
 */
let shown: SeenPayment | null | undefined

const whatIf = new WhatIfPanel(machine, side, details, position => {
  if (mode === 'what-if') charts.show(position)
})

function draw(): void {
  for (const tab of document.querySelectorAll('[data-mode]')) {
    tab.setAttribute('aria-pressed', String(tab.getAttribute('data-mode') === mode))
  }
  if (mode === 'live') drawLive()
  else {
    shown = undefined
    void whatIf.show()
  }
}

function drawLive(): void {
  const seen = payments.get(selected ?? '') ?? null
  list.draw([...payments.values()].reverse(), selected, isFollowingNewest)
  if (!side.contains(list.root)) side.replaceChildren(list.root)
  if (shown === seen) return
  shown = seen
  charts.show(seen?.facts ?? null)
  const hint = element('p', { class: 'faint' }, 'Select a payment to follow it.')
  details.replaceChildren(...(seen === null ? [hint] : paymentDetails(seen, machine)))
}

/** Many payments may move at once; one drawing per frame is enough. */
function drawSoon(): void {
  if (isDrawingPlanned) return
  isDrawingPlanned = true
  requestAnimationFrame(() => {
    isDrawingPlanned = false
    draw()
  })
}

function select(id: string): void {
  selected = id
  isFollowingNewest = false
  draw()
}

async function drawStatus(): Promise<void> {
  const answer = await fetch('/status').catch(() => null)
  existing('#status').textContent = answer === null ? 'The inspector was stopped.' : await answer.text()
}

for (const tab of document.querySelectorAll('[data-mode]')) {
  tab.addEventListener('click', () => {
    mode = tab.getAttribute('data-mode') === 'what-if' ? 'what-if' : 'live'
    draw()
  })
}
listen(
  seen => {
    if (!payments.has(seen.id)) newest = seen.id
    if (isFollowingNewest) selected = newest
    // The payment that moved last stands last; the list shows it first.
    payments.delete(seen.id)
    payments.set(seen.id, seen)
    if (payments.size > PAYMENTS_MAX) payments.delete([...payments.keys()].find(id => id !== selected) ?? seen.id)
    if (mode === 'live') drawSoon()
  },
  () => void drawStatus()
)
setInterval(() => void drawStatus(), STATUS_EVERY_MS)
draw()
