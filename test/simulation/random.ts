/** Chance that can be repeated: the same seed gives the same numbers on every machine. */

export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(choices: readonly [T, ...T[]]): T
  /** A number whose mean is `mean`; most are below it, a few far above. */
  exponential(mean: number): number
}

/** `sfc32`, seeded with one number. */
export function createRandom(seed: number): Random {
  let a = 0x9e3779b9
  let b = 0x243f6a88
  let c = 0xb7e15162
  let d = seed ^ 0xdeadbeef
  const next = (): number => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t
    return (t >>> 0) / 4_294_967_296
  }
  // The first numbers of neighbouring seeds are alike.
  for (let i = 0; i < 16; i++) next()
  return {
    next,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: probability => probability > 0 && next() < probability,
    pick: choices => choices[Math.floor(next() * choices.length)] ?? choices[0],
    exponential: mean => -mean * Math.log(1 - next())
  }
}
