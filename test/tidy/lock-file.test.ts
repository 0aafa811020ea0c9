import { readFileSync } from 'node:fs'
import { expect } from 'chai'

interface LockedPackage {
  readonly integrity?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
}

describe('the lock file', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, LockedPackage>
  }
  const locked = Object.entries(packages).filter(([path]) => path !== '')
  const pathsOf = (chosen: (entry: LockedPackage) => boolean): string[] =>
    locked.filter(([, entry]) => chosen(entry)).map(([path]) => path)

  it('has the hash of every package, those for other platforms included', () => {
    expect(locked.length).to.be.greaterThan(200)
    expect(pathsOf(({ integrity = '' }) => !/^sha512-[\w+/]{86}==$/.test(integrity))).to.deep.equal([])
  })

  it('names no registry', () => {
    expect(pathsOf(({ resolved }) => resolved !== undefined)).to.deep.equal([])
  })

  it('belongs to an installation that runs no script of a package', () => {
    expect(readFileSync('.npmrc', 'utf8')).to.match(/^ignore-scripts=true$/m)
    // Both bring their binaries as packages: the scripts would only replace what is missing.
    expect(pathsOf(({ hasInstallScript }) => hasInstallScript === true)).to.deep.equal([
      'node_modules/esbuild',
      'node_modules/msgpackr-extract'
    ])
  })
})
