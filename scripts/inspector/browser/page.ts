/** The inspector's page: machines on top, payments on the left, the chart in the middle, facts on the right. */
import type { MachineView } from '../view-model.js'
import { ChartPanel } from './chart-panel.js'
import { paymentDetails } from './details.js'
import { button, element, existing } from './element.js'
import { listen, type Seen } from './feed.js'
import { PaymentList, searchField } from './payment-list.js'
import { WhatIfPanel } from './what-if-panel.js'

type Mode = 'live' | 'what-if'

/** Machine whose live payments the protocol carries. */
const LIVE_MACHINE = 'payment'
const STATUS_EVERY_MS = 2_000
/** Bounds a page that is open for days: the payments that changed longest ago are dropped. As many as the server keeps. */
const PAYMENTS_MAX = 200

const [side, details] = [existing('#side'), existing('#details')]
const charts = new ChartPanel(existing('#charts'))
const payments = new Map<string, Seen>()
const machines = (await (await fetch('/machines.json')).json()) as readonly MachineView[]
const list = new PaymentList(select, () => {
  isFollowingNewest = !isFollowingNewest
  if (isFollowingNewest) selected = newest ?? selected
  draw()
})
const search = searchField(id => select(id))
let machine = machines.find(({ id }) => id === LIVE_MACHINE) ?? machines[0]
let mode: Mode = 'live'
let selected: string | undefined
/** The payment that appeared last. */
let newest: string | undefined
/** Until the viewer chooses a payment. */
let isFollowingNewest = true
let isDrawingPlanned = false
/** What chart and details show. They are redrawn only when this changes, which keeps scrolling and marked text. */
let shown: readonly unknown[] = []

const whatIf = new WhatIfPanel(side, details, position => {
  if (mode === 'what-if' && machine !== undefined) charts.show(machine, position)
})

function draw(): void {
  for (const tab of document.querySelectorAll('[data-mode]')) {
    tab.setAttribute('aria-pressed', String(tab.getAttribute('data-mode') === mode))
  }
  for (const tab of document.querySelectorAll('[data-machine]')) {
    tab.setAttribute('aria-pressed', String(tab.getAttribute('data-machine') === machine?.id))
  }
  if (machine === undefined) return
  if (mode === 'live') drawLive(machine)
  else {
    shown = []
    void whatIf.show(machine)
  }
}

function drawLive(current: MachineView): void {
  const seen = current.id === LIVE_MACHINE && selected !== undefined ? payments.get(selected) : undefined
  list.draw([...payments.values()].reverse(), selected, isFollowingNewest)
  if (!side.contains(list.root)) side.replaceChildren(search, list.root)
  if (shown[0] === current && shown[1] === seen) return
  shown = [current, seen]
  charts.show(current, seen === undefined ? null : seen.facts)
  const hint = element('p', { class: 'faint' }, 'Select a payment to follow it.')
  details.replaceChildren(...(seen === undefined ? [hint] : paymentDetails(seen, current)))
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
  machine = machines.find(candidate => candidate.id === LIVE_MACHINE) ?? machine
  draw()
}

async function drawStatus(): Promise<void> {
  const answer = await fetch('/status').catch(() => null)
  existing('#status').textContent = answer === null ? 'The inspector was stopped.' : await answer.text()
}

existing('#machines').append(
  ...machines.map(candidate =>
    button(
      candidate.id,
      () => {
        machine = candidate
        draw()
      },
      { 'data-machine': candidate.id, title: candidate.description }
    )
  )
)
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
