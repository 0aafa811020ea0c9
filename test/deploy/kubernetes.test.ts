/** The files of deploy/kubernetes are what Kubernetes expects, and together they are an installation. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { describeSettings } from '../../runtime/config.js'
import { findOnPath } from '../../scripts/start/apt-packages.js'
import { KUBERNETES, readManifests } from '../support/ways-to-run.js'

/** Where kubernetes-types has the type of each kind. The Prometheus Operator's own kinds are not among them. */
const TYPES: Readonly<Record<string, string>> = {
  CronJob: 'batch/v1',
  Deployment: 'apps/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  Ingress: 'networking/v1',
  Namespace: 'core/v1',
  NetworkPolicy: 'networking/v1',
  PodDisruptionBudget: 'policy/v1',
  Service: 'core/v1'
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec?: object
}

interface Port {
  readonly port: number
}

interface Policy extends Manifest {
  readonly spec: {
    readonly ingress?: readonly { readonly from: readonly object[]; readonly ports: readonly Port[] }[]
    readonly egress: readonly { readonly to?: readonly object[]; readonly ports?: readonly Port[] }[]
  }
}

const files = readdirSync(KUBERNETES).filter(name => name.endsWith('.yaml'))
const examples = readdirSync(join(KUBERNETES, 'examples')).map(name => join('examples', name))
const manifestsOf = (names: readonly string[]): Manifest[] => names.flatMap(name => readManifests<Manifest>(name))
/** The patch selects nothing: the Deployment that it is added to does. */
const complete = (manifest: Manifest): object =>
  manifest.kind === 'Deployment' ? { ...manifest, spec: { selector: {}, ...manifest.spec } } : manifest
const isOperator = { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'operator' } } }

describe('deploy/kubernetes', () => {
  it('lists each of its files in kustomization.yaml', () => {
    const { resources, patches } = parse(readFileSync(join(KUBERNETES, 'kustomization.yaml'), 'utf8')) as {
      resources: string[]
      patches: { path: string }[]
    }
    const listed = [...resources, ...patches.map(({ path }) => path), 'kustomization.yaml']
    expect(listed.sort()).to.deep.equal([...files].sort())
  })

  it('has the fields that Kubernetes knows, and no others', () => {
    const manifests = manifestsOf([...files.filter(name => name !== 'kustomization.yaml'), ...examples])
    const typed = manifests.filter(({ kind }) => kind !== 'PodMonitor')
    const kinds = [...new Set(typed.map(({ kind }) => kind))]
    const lines = [
      ...kinds.map(kind => `import type { ${kind} } from 'kubernetes-types/${TYPES[kind]}'`),
      ...typed.map(
        (manifest, index) => `export const m${index}: ${manifest.kind} = ${JSON.stringify(complete(manifest))}`
      )
    ]
    // In the checkout, so that the compiler finds the package.
    const dir = mkdtempSync(resolve('dist', 'manifests-'))
    try {
      writeFileSync(join(dir, 'manifests.ts'), `${lines.join('\n')}\n`)
      const options = [
        '--ignoreConfig',
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        '--module',
        'preserve',
        '--types',
        ''
      ]
      const tsc = resolve('node_modules/.bin/tsc')
      expect(spawnSync(tsc, [...options, join(dir, 'manifests.ts')], { encoding: 'utf8' }).stdout).to.equal('')
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
    expect(typed.length).to.be.greaterThan(25)
  })

  const does = 'is built by kustomize, with what all processes share in each Deployment'
  if (findOnPath('kubectl') === undefined) it(`NOT CHECKED, there is no kubectl on the PATH: ${does}`, () => undefined)
  else
    it(does, () => {
      const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', KUBERNETES], { encoding: 'utf8' })
      expect(status, stderr).to.equal(0)
      const deployments = stdout.split(/^---$/m).filter(text => /^kind: Deployment$/m.test(text))
      expect(deployments.length).to.equal(7)
      for (const text of deployments) {
        expect(text).to.contain('readOnlyRootFilesystem: true').and.contain('path: /readyz')
        expect(text.match(/topologyKey/g)).to.have.length(2)
      }
    })

  it('scales each process that requests wait for, and leaves their number to that', () => {
    const scaled = manifestsOf(files).filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
    expect(scaled.map(({ metadata }) => metadata.name).sort()).to.deep.equal(['api', 'payments', 'tokens'])
    for (const { metadata } of scaled) {
      const deployment = manifestsOf([`${metadata.name}.yaml`]).find(({ kind }) => kind === 'Deployment')
      expect(deployment).not.to.have.nested.property('spec.replicas')
    }
  })

  it('lets traces leave each pod, and `operator doctor` ask each process', () => {
    const [every] = readManifests<Policy>('network-policies.yaml')
    const asks = every?.spec.ingress?.find(({ ports }) => ports[0]?.port === 9_000)
    expect(asks?.from).to.deep.include(isOperator)
    expect(every?.spec.egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))).to.include(4_318)
  })

  it('lets the operator reach both Redis, the archive, the card network and the ops servers', () => {
    const own = readManifests<Policy>('network-policies.yaml').find(({ metadata }) => metadata.name === 'operator')
    const ports = own?.spec.egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))
    expect(ports).to.deep.equal([6_379, 6_380, 5_432, 443, 9_000])
  })

  it('gives the operator no variable that it does not use', () => {
    const [cronJob] = readManifests<{
      spec: { jobTemplate: { spec: { template: { spec: { containers: [{ env: { name: string }[] }] } } } } }
    }>('operator.yaml')
    const env = cronJob?.spec.jobTemplate.spec.template.spec.containers[0].env ?? []
    const rows = describeSettings().flatMap(({ rows }) => rows)
    const usedBy = (name: string): readonly string[] =>
      rows.find(({ variable }) => [variable, `${variable}_FILE`].includes(name))?.usedBy ?? []
    const isUsed = (name: string): boolean => usedBy(name).some(user => user === 'operator' || user === 'doctor')
    const unused = env.filter(({ name }) => name !== 'NODE_EXTRA_CA_CERTS' && !isUsed(name))
    expect(env.length).to.be.greaterThan(8)
    expect(unused).to.deep.equal([])
  })
})
