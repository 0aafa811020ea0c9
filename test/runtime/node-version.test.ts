import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { nodeWarning, supportedNode } from '../../runtime/version.js'
import { pinnedNodes } from '../runner/node-binaries.js'

describe('the versions of Node', () => {
  for (const [version, isSupported] of [
    ['v20.19.0', true],
    ['v20.20.2', true],
    ['v22.12.0', true],
    ['v24.0.0', true],
    ['v18.20.0', false],
    ['v20.18.3', false],
    ['v22.11.0', false],
    ['v23.11.1', false],
    ['v25.9.0', false],
    ['v27.0.0', false]
  ] as const) {
    it(`${version} is ${isSupported ? 'supported' : 'warned of'}`, () => {
      expect(nodeWarning(version) === undefined).to.equal(isSupported)
    })
  }

  for (const system of ['linux-x64', 'linux-arm64']) {
    it(`in \`engines\` are those of the tests, one of each line, on ${system}`, async () => {
      const pinned = await pinnedNodes(system)
      const lines = [...supportedNode.matchAll(/\^(\d+)/g)].map(([, line]) => line)
      expect(pinned.map(({ line }) => line)).to.deep.equal(lines)
      for (const { line, version } of pinned) {
        expect(version).to.match(new RegExp(`^${line}\\.`))
        expect(nodeWarning(`v${version}`)).to.equal(undefined)
      }
      expect(`^${pinned[0]?.version} `, 'the oldest').to.equal(supportedNode.replace(/ .*/, '.0 '))
    })
  }

  it('include that of the image', () => {
    const versions = [...readFileSync('deploy/Dockerfile', 'utf8').matchAll(/^ARG \w+_IMAGE=node:(\d+)/gm)].map(
      ([, line]) => line
    )
    expect(versions).to.have.length(2)
    for (const line of versions) expect(nodeWarning(`v${line}.0.0`)).to.equal(undefined)
  })
})
