import { expect } from 'chai'
import { readSources, targetOf } from './sources.js'

/** The files that each file imports, types included: a reader follows those, too. */
const imports = new Map(
  readSources().map(({ path, imports }) => [
    path,
    imports.filter(specifier => specifier.startsWith('.')).map(specifier => targetOf(path, specifier))
  ])
)

describe('imports', () => {
  it('never lead back to the file in which they began', () => {
    expect(circlesOf(imports)).to.deep.equal([])
  })

  it('would be found if they did, over any number of files', () => {
    const graph = { a: ['b', 'd'], b: ['c'], c: ['a'], d: ['e', 'lib'], e: ['e'], f: ['a', 'g'], g: [] }
    expect(circlesOf(new Map(Object.entries(graph)))).to.deep.equal([['e'], ['a', 'b', 'c']])
  })
})

/** The groups of files that all reach each other, and files that import themselves (Tarjan's algorithm). */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = []
  const order = new Map<string, number>()
  const path: string[] = []
  /** Returns the place of the earliest file of the path that `file` leads back to. */
  const visit = (file: string): number => {
    const place = order.size
    order.set(file, place)
    path.push(file)
    let earliest = place
    for (const target of graph.get(file) ?? []) {
      const known = order.get(target)
      if (known === undefined) earliest = Math.min(earliest, visit(target))
      else if (path.includes(target)) earliest = Math.min(earliest, known)
    }
    if (earliest === place) {
      const group = path.splice(path.indexOf(file))
      if (group.length > 1 || graph.get(file)?.includes(file)) circles.push(group.sort())
    }
    return earliest
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return circles
}
