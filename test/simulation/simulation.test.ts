import { expect } from 'chai'
import { loadLua, luaNames } from '../../redis/scripts.js'
import { contraryKinds } from '../support/contrary-kinds.js'
import { runAnySeed } from './any-world.js'
import { runContrarySeed } from './contrary-world.js'
import { sleepMatrix } from './crash-matrix.js'
import { type Mutant, type MutantName, mutants } from './mutants.js'
import { type RunResult, runSeed } from './run-world.js'
import type { ScenarioName } from './scenarios.js'
import type { NetworkTrouble } from './simulated-network.js'
import { ways } from './tampering.js'

/** Enough for every kind of fault to happen. Thousands of them: `npm run simulate -- --seeds 10000`. */
const SEEDS = 60
const TOUCHED_SEEDS = 20
/** A world whose network is away for ten minutes takes ten times as long to compute as others. */
const TROUBLED_SEEDS = { away: 3, denying: 5, throttled: 4 }
const SECRETS_SEEDS = 10
const CONTRARY_SEEDS = 12
const TAMPERED_SEEDS = 15
const RESTORED_SEEDS = 8
const FAILOVER_SEEDS = 10
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
  'notification late',
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

describe('simulated worlds', () => {
  it(`keep every invariant under ${SEEDS} different mixtures of faults, all of which happen`, async () => {
    const happened = new Set<string>()
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violations, counts } = await runAnySeed({ seed })
      expect(violations, `npm run simulate -- --seed ${seed}`).to.deep.equal([])
      for (const kind of counts.keys()) happened.add(kind)
    }
    expect([...happened]).to.include.members(FAULTS)
  })

  it(`keep them while people change sales by hand, and the network is slow to decide`, async () => {
    const happened = new Set<string>()
    for (let seed = 1; seed <= TOUCHED_SEEDS; seed++) {
      const { violations, counts } = await runSeed({ seed, isTouched: true })
      expect(violations, `npm run simulate -- --by-hand --seed ${seed}`).to.deep.equal([])
      for (const kind of counts.keys()) happened.add(kind)
    }
    expect([...happened]).to.include.members(['by hand', 'record lags', 'unfinished', 'finished late'])
  })

  for (const [trouble, seeds] of Object.entries(TROUBLED_SEEDS) as [NetworkTrouble, number][]) {
    it(`keep them while the card network is ${trouble} for long, and reconcile everything in doubt within a minute after it`, async () => {
      let inTrouble = 0
      const circuit = { opens: 0, closes: 0 }
      for (let seed = 1; seed <= seeds; seed++) {
        const { violations, counts } = await runSeed({ seed, trouble })
        expect(violations, `npm run simulate -- --network ${trouble} --seed ${seed}`).to.deep.equal([])
        inTrouble += counts.get(`network ${trouble}`) ?? 0
        circuit.opens += counts.get('circuit opens') ?? 0
        circuit.closes += counts.get('circuit closes') ?? 0
      }
      if (trouble === 'throttled') expect(Math.min(circuit.opens, circuit.closes)).to.be.above(0)
      expect(inTrouble).to.equal(seeds)
    })
  }

  for (const secrets of ['lockless', 'away'] as const) {
    it(`keep them while the memory-only Redis is ${secrets}`, async () => {
      for (let seed = 1; seed <= SECRETS_SEEDS; seed++) {
        const { violations } = await runSeed({ seed, secrets })
        expect(violations, `npm run simulate -- --secrets ${secrets} --seed ${seed}`).to.deep.equal([])
      }
    })
  }

  it('keep them with an acquirer whose answers contradict its ledger, in each of the ways that are known', async () => {
    for (const kind of contraryKinds) {
      const { violations } = await runContrarySeed({ seed: 1, kind })
      expect(violations, kind).to.deep.equal([])
    }
    for (let seed = 1; seed <= CONTRARY_SEEDS; seed++) {
      const { violations } = await runAnySeed({ seed, isContrary: true })
      expect(violations, `npm run simulate -- --contrary --seed ${seed}`).to.deep.equal([])
    }
  })

  it('charge, refund and void nothing twice when the durable data goes back, and an operator accepts it', async () => {
    for (let seed = 1; seed <= RESTORED_SEEDS; seed++) {
      const { violations } = await runAnySeed({ seed, isRestored: true })
      expect(violations, `npm run simulate -- --restored --seed ${seed}`).to.deep.equal([])
    }
  })

  it('keep them while streams and groups are changed by hand, and workers die', async () => {
    const happened = new Set<string>()
    for (let seed = 1; seed <= TAMPERED_SEEDS; seed++) {
      const { violations, counts } = await runSeed({ seed, isTampered: true })
      expect(violations, `npm run simulate -- --tampered --seed ${seed}`).to.deep.equal([])
      for (const kind of counts.keys()) happened.add(kind)
    }
    expect([...happened]).to.include.members(ways.map(way => `stream ${way}`))
  })

  for (const secrets of [undefined, 'lockless'] as const) {
    it(`keep them while replicas that were waited for take over${secrets === undefined ? '' : ', without locks'}`, async () => {
      for (let seed = 1; seed <= FAILOVER_SEEDS; seed++) {
        const world = { seed, failover: 'confirmed', ...(secrets === undefined ? {} : { secrets }) } as const
        const { violations } = await runSeed(world)
        const options = `--failover confirmed${secrets === undefined ? '' : ` --secrets ${secrets}`}`
        expect(violations, `npm run simulate -- ${options} --seed ${seed}`).to.deep.equal([])
      }
    })
  }

  it('show, where no payment is ever locked, that commits do not compare versions', async () => {
    expect(await firstFailure('no-version-compare', SECRETS_SEEDS, { secrets: 'lockless' })).to.be.within(
      1,
      SECRETS_SEEDS
    )
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
