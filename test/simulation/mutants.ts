/**
 * Mistakes planted on purpose: a simulation that does not find them proves nothing. They exist here only, by
 * exchanging the text of a script or one dependency of a process.
 */
import type { QueryOutcome } from '../../machines/network.js'
import type { ContraryKind } from '../support/contrary-kinds.js'
import { contraryMutants } from './contrary-mutants.js'
import { asking, calling, type Exchange, finding, replace, storing } from './exchange.js'
import type { ScenarioName } from './scenarios.js'
import type { NetworkTrouble } from './simulated-network.js'
import { webhookMutants } from './webhook-mutants.js'

export interface Mutant extends Exchange {
  readonly description: string
  /** Within how many runs it must show; 100 unless few worlds bring it about. */
  readonly seedsMax?: number
  /** Instead of in runs it shows in lives of this kind, when a worker is suspended at the right point. */
  readonly showsSuspended?: ScenarioName
  /** It shows in worlds with an acquirer of this kind (contrary-world.ts). */
  readonly contrary?: ContraryKind
  /** The worlds in which it shows. */
  readonly world?: {
    readonly isTampered?: true
    readonly isRestored?: true
    readonly failover?: 'confirmed'
    readonly secrets?: 'lockless'
  }
  /** The trouble of the network in which it shows. */
  readonly trouble?: NetworkTrouble
}

export const mutants = {
  'no-version-compare': {
    description: 'A commit overwrites any stored version.',
    script: replace('if versionOf(keys.payment) ~= given.version then\n  return -1', 'if false then\n  return -1')
  },
  'no-fence': {
    description: 'A worker that was taken over begins its command all the same.',
    // It takes a refund in part, and a worker that is suspended right before it: one world in several hundred.
    showsSuspended: 'refund whose answer is lost',
    // The open record of the request protects it as well.
    script: lua => lua.replace('if given.begins and', 'if false and').replace('if given.mustBeOpen and', 'if false and')
  },
  'lost-acknowledgement': {
    description: 'The last commit does not take the command out of the stream.',
    script: replace("if given.ends then\n  redis.call('XACK'", "if false then\n  redis.call('XACK'")
  },
  'lost-result': {
    description: 'The result is not stored with the idempotency record.',
    script: replace('  storeResult(keys.idempotency, request, given.result)\nend\nredis.call(', 'end\nredis.call(')
  },
  'lost-event': {
    description: 'A change of status writes no event.',
    script: replace("appendEvent(redis.call('TIME')[1] .. '000')", 'true')
  },
  'lost-delivery': {
    description: 'The first event of a payment gets no command.',
    script: replace(
      "redis.call('XADD', keys.deliveries, '*', 'e', given.lineMember)\n  end\n  local waiting",
      'end\n  local waiting'
    )
  },
  'lost-next-delivery': {
    description: 'The event behind one that was delivered gets no command.',
    script: replace(
      "if redis.call('EXISTS', keys.events) == 1 then\n    redis.call('XADD', keys.deliveries",
      "if false then\n    redis.call('XADD', keys.deliveries"
    )
  },
  'missing-in-index': {
    description: 'A payment whose status changes is not listed under its new status.',
    script: replace("redis.call('ZADD', keys.after, 0, member)", '')
  },
  'left-in-index': {
    description: 'A payment whose status changes stays listed under the status before.',
    script: replace("redis.call('ZREM', keys.before, member)", '')
  },
  'lost-wake-up': {
    description: 'What is due leaves the list without a command.',
    script: replace("redis.call('XADD', keys.commands, '*', 'e', string.format(given.entry, due[i], due[i + 1]))", '')
  },
  'unmarked-authorisation': {
    description:
      'An authorisation is sent without a mark: delivered again by a group that was set back, it is sent again.',
    world: { isTampered: true },
    script: replace("redis.call('HSETNX', keys.begun, member, delivery) == 1", 'true')
  },
  'counted-deliveries': {
    description: 'What stands for the mark is that a command was taken over: a group that is lost forgets it.',
    world: { isTampered: true },
    worker: deps => ({
      ...deps,
      commits: {
        ...deps.commits,
        begin: async ({ deliveryCount }) => (deliveryCount > 0 ? 'begun_before' : 'begun')
      }
    })
  },
  'accepted-without-a-wake-up': {
    description: 'Nothing wakes a new payment whose command is trimmed from its stream.',
    world: { isTampered: true },
    script: replace("redis.call('ZADD', keys.reconcile, given.wakeAtMs, given.member)", '')
  },
  'begun-by-any-worker': {
    description: 'An authorisation is begun, without a mark, by a worker that lost it to another one in a failover.',
    world: { failover: 'confirmed', secrets: 'lockless' },
    script: lua =>
      lua
        .replace("redis.call('HSETNX', keys.begun, member, delivery) == 1", 'true')
        .replace('1, consumer) == 1', '1) == 1')
  },
  'late-authorisation': {
    description: 'A new payment is sent however long it has waited for a worker.',
    showsSuspended: 'create while all workers are away',
    script: replace(
      "redis.call('XADD', keys.commands, '*', 's'",
      `for i = 1, #given.fields do
  given.fields[i] = string.gsub(given.fields[i], '%]%],', ']],9')
end
redis.call('XADD', keys.commands, '*', 's'`
    )
  },
  'double-acceptance': {
    description: 'A repeated request is accepted again.',
    script: replace('if earlier then\n  return earlier\nend', '')
  },
  'no-horizon': {
    description: 'The first "not found" ends a payment, and the first look decides about a refund.',
    contrary: 'books calls later',
    // Nor is another query asked before an absence is believed, which would nearly always find what was late.
    worker: (deps, network) => ({ ...deps, network, policy: { ...deps.policy, notFoundHorizonMs: 0 } })
  },
  'silence-slows-queries': {
    description: 'A query without an answer lengthens the gap to the next one.',
    trouble: 'away',
    worker: asking(unfinishedInsteadOfSilence)
  },
  'denial-is-absence': {
    description: 'A host that does not find a sale known to exist is believed that another one does not exist.',
    trouble: 'denying',
    worker: asking(outcome =>
      outcome.kind === 'no_answer' && outcome.reason.includes('known sale') ? { kind: 'absent' } : outcome
    )
  },
  'throttled-is-not-sent': {
    description: 'An authorisation that a gateway answered with 429 or 503 counts as not sent.',
    trouble: 'throttled',
    worker: calling(
      outcome =>
        outcome.kind === 'ambiguous' && /HTTP (429|503)/.test(outcome.reason)
          ? { kind: 'not_sent', reason: outcome.reason }
          : outcome,
      ['authorise']
    )
  },
  'removed-before-inserted': {
    description: 'A payment leaves Redis before it is in the archive.',
    archive: archive => ({
      ...archive,
      put: async payments => void setTimeout(() => void archive.put(payments).catch(() => undefined), 1_000)
    })
  },
  'older-version-brought-back': {
    description: 'A payment is brought back however long ago the archive was asked for it.',
    // An api must sleep for hours with the payment in its hands, while others change it and it leaves again.
    showsSuspended: 'refund of an archived payment, which leaves again',
    script: replace("if redis.call('TIME')[1] * 1000 > given.latestMs then\n  return false\nend", '')
  },
  'refund-not-compared': {
    description: 'A refund in doubt is sent again without a look at what is booked.',
    worker: finding(sale => (sale.status === 'captured' ? { ...sale, voidedCents: 0 } : sale))
  },
  'lost-refund': {
    description: 'A refund that begins takes the place of the one before in the list.',
    worker: storing(({ progress }) => ({ ...progress, refunds: progress.refunds.slice(-1) }))
  },
  'capture-of-a-cent-more': {
    description: 'A capture asks for one cent more.',
    worker: deps => ({
      ...deps,
      network: { ...deps.network, capture: (saleId, cents, signal) => deps.network.capture(saleId, cents + 1, signal) }
    })
  },
  'ambiguous-is-refusal': {
    description: 'A lost answer to an operation counts as a refusal.',
    worker: calling(
      outcome => (outcome.kind === 'ambiguous' ? { kind: 'rejected', code: 'no answer' } : outcome),
      ['capture', 'void']
    )
  },
  'vouches-for-any-data': {
    description: 'Data that came back older is worked with as if nothing had been done since.',
    world: { isRestored: true },
    script: replace('if given.markAtMs then\n  -- Every new payment', 'if false then\n  -- Every new payment'),
    worker: deps => ({ ...deps, unvouchedBeforeMs: () => 0 })
  },
  ...webhookMutants,
  ...contraryMutants
} as const satisfies Record<string, Mutant>

export type MutantName = keyof typeof mutants

/** An answer that says nothing: it counts as one all the same. */
function unfinishedInsteadOfSilence(outcome: QueryOutcome): QueryOutcome {
  if (outcome.kind !== 'no_answer') return outcome
  const references = { saleId: 'none', tid: null, nsu: null, authorizationCode: null }
  const figures = {
    currency: null,
    amountCents: 0,
    capturedCents: 0,
    voidedCents: 0,
    declinedCode: null,
    isChargedBack: false
  }
  return { kind: 'found', sales: [{ references, status: 'unfinished', ...figures }] }
}
