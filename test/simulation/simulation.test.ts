import { expect } from 'chai'
import { loadLua, luaNames } from '../../redis/scripts.js'
import { contraryKinds } from '../support/contrary-kinds.js'
import { type AnyWorldOptions, runAnySeed } from './any-world.js'
import { runContrarySeed } from './contrary-world.js'
import { sleepMatrix } from './crash-matrix.js'
import { type Mutant, type MutantName, mutants } from './mutants.js'
import { type RunResult, runSeed } from './run-world.js'
import type { ScenarioName } from './scenarios.js'
import { ways } from './tampering.js'

/** A planted mistake must show within so many runs. */
const MUTANT_SEEDS_MAX = 100

/** Faults that a few hundred runs are sure to meet. */
const FAULTS = [
  'kill',
  'sleep',
  'cut',
  'redis dies',
  'secrets dies',
  'stall',
  'locks vanish',
  'notSent',
  'dropBefore',
  'dropAfter',
  'late',
  'error',
  'refuse',
  'staleQuery',
  'twice',
  'clock differs',
  'redis clock jumps',
  'secrets clock jumps',
  'doubled request',
  'chargeback',
  'receiverFails',
  'receiverSilent',
  'receiverSlow',
  'receivers away',
  'delivered twice',
  'moved',
  'brought back'
]

/** Worlds of one kind: how many of them, the options of `npm run simulate` for one of them, and what happens in some. */
interface Kind {
  readonly what: string
  readonly seeds: number
  readonly flags: string
  readonly world: Omit<AnyWorldOptions, 'seed'>
  readonly happens?: readonly string[]
}

/** Enough for every kind of fault to happen. Thousands of them: `npm run simulate -- --seeds 10000`. */
const kinds: readonly Kind[] = [
  { what: 'under different mixtures of faults', seeds: 60, flags: '', world: {}, happens: FAULTS },
  {
    what: 'while people change sales by hand, and the network is slow to decide',
    seeds: 20,
    flags: '--by-hand',
    world: { isTouched: true },
    happens: ['by hand', 'record lags', 'unfinished', 'finished late', 'notification late']
  },
  // Such a world takes ten times as long to compute as others.
  ...(['away', 'denying', 'throttled'] as const).map(trouble => ({
    what: `while the card network is ${trouble} for long, and reconcile everything in doubt within a minute after it`,
    seeds: 4,
    flags: `--network ${trouble}`,
    world: { trouble },
    happens: [`network ${trouble}`, ...(trouble === 'throttled' ? ['circuit opens', 'circuit closes'] : [])]
  })),
  ...(['lockless', 'away'] as const).map(secrets => ({
    what: `while the memory-only Redis is ${secrets}`,
    seeds: 10,
    flags: `--secrets ${secrets}`,
    world: { secrets }
  })),
  {
    what: 'with an acquirer whose answers contradict its ledger',
    seeds: 12,
    flags: '--contrary',
    world: { isContrary: true }
  },
  {
    what: 'when the durable data goes back, and an operator accepts it: nothing is charged, refunded or voided twice',
    seeds: 8,
    flags: '--restored',
    world: { isRestored: true }
  },
  {
    what: 'while streams and groups are changed by hand, and workers die',
    seeds: 15,
    flags: '--tampered',
    world: { isTampered: true },
    happens: ways.map(way => `stream ${way}`)
  },
  ...[{}, { secrets: 'lockless' } as const].map(secrets => ({
    what: `while replicas that were waited for take over${'secrets' in secrets ? ', without locks' : ''}`,
    seeds: 10,
    flags: `--failover confirmed${'secrets' in secrets ? ' --secrets lockless' : ''}`,
    world: { failover: 'confirmed' as const, ...secrets },
    happens: ['failover']
  }))
]

describe('simulated worlds', () => {
  for (const { what, seeds, flags, world, happens = [] } of kinds) {
    it(`keep every invariant ${what}`, async () => {
      const happened = new Set<string>()
      for (let seed = 1; seed <= seeds; seed++) {
        const { violations, counts } = await runAnySeed({ seed, ...world })
        expect(violations, `npm run simulate -- ${flags} --seed ${seed}`).to.deep.equal([])
        for (const kind of counts.keys()) happened.add(kind)
      }
      expect([...happened]).to.include.members([...happens])
    })
  }

  it('keep them with an acquirer that is contrary in one of the ways that are known, each of them', async () => {
    for (const kind of contraryKinds) {
      const { violations } = await runContrarySeed({ seed: 1, kind })
      expect(violations, kind).to.deep.equal([])
    }
  })

  it('show, where no payment is ever locked, that commits do not compare versions', async () => {
    expect(await firstFailure('no-version-compare', 10, { secrets: 'lockless' })).to.be.within(1, 10)
  })

  it('are the same for the same seed', async () => {
    const summary = ({ counts, events, requests }: RunResult): unknown => [[...counts], events, requests]
    const [first, second] = [await runSeed({ seed: 7 }), await runSeed({ seed: 7 })]
    expect(summary(first)).to.deep.equal(summary(second))
  })

  it('plant mistakes in scripts as they are now', () => {
    const scripts = luaNames.map(loadLua)
    const planted: readonly Mutant[] = Object.values(mutants)
    const stale = planted.filter(({ script }) => script !== undefined && scripts.every(lua => script(lua) === lua))
    expect(stale.map(({ description }) => description)).to.deep.equal([])
  })

  for (const [name, mutant] of Object.entries<Mutant>(mutants)) {
    const { description, seedsMax = MUTANT_SEEDS_MAX, showsSuspended } = mutant
    if (showsSuspended !== undefined) {
      it(`show a planted mistake: ${description}`, async () => {
        expect(await hasFailingLife(showsSuspended, mutant)).to.equal(true)
      })
      continue
    }
    it(`show a planted mistake: ${description}`, async () => {
      expect(await firstFailure(name as MutantName, seedsMax, mutant.world)).to.be.within(1, seedsMax)
    })
  }
})

async function hasFailingLife(scenario: ScenarioName, mutant: Mutant): Promise<boolean> {
  for await (const { violations } of sleepMatrix(scenario, { mutant })) if (violations.length > 0) return true
  return false
}

async function firstFailure(mutant: MutantName, seedsMax: number, world: Mutant['world'] = {}): Promise<number> {
  for (let seed = 1; seed <= seedsMax; seed++) {
    if ((await runAnySeed({ seed, mutant, ...world })).violations.length > 0) return seed
  }
  return Number.POSITIVE_INFINITY
}
