/** What deploy/ gives each process: under systemd, in compose.yaml, in Kubernetes. */
import { readFileSync } from 'node:fs'
import { parse, parseAllDocuments } from 'yaml'
import { readUnit } from './systemd-units.js'

export type Environment = Readonly<Record<string, string>>

export interface ProcessPlan {
  readonly command: string
  readonly environment: Environment
  /** From SIGTERM to SIGKILL. */
  readonly stopTimeoutMs: number
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
  readonly periodSeconds: number
  readonly timeoutSeconds?: number
  readonly failureThreshold: number
}

interface Container {
  readonly name: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
}

interface Pod {
  readonly terminationGracePeriodSeconds: number
  readonly enableServiceLinks?: boolean
  readonly containers: readonly [Container]
}

export interface Deployment {
  readonly kind: 'Deployment'
  readonly spec: { readonly template: { readonly spec: Pod } }
}

interface Rule {
  readonly ports?: readonly { readonly port: number }[]
}

export interface NetworkPolicy {
  readonly kind: 'NetworkPolicy'
  readonly metadata: { readonly name: string }
  readonly spec: { readonly ingress?: readonly Rule[]; readonly egress: readonly Rule[] }
}

/** Of a manifest that is looked at for its kind only. */
interface OtherManifest {
  readonly kind: 'Service' | 'PodDisruptionBudget' | 'HorizontalPodAutoscaler'
}

interface ComposeService {
  readonly command: string
  readonly environment: Environment
  readonly stop_grace_period: string
}

export const KUBERNETES = 'deploy/kubernetes'

/** The manifests of a file of deploy/kubernetes. */
export function readManifests<T = Deployment | NetworkPolicy | OtherManifest>(file: string): T[] {
  const documents = parseAllDocuments(readFileSync(`${KUBERNETES}/${file}`, 'utf8'), { version: '1.1' })
  return documents.map(document => document.toJS() as T)
}

/** What all pods get from the patch, and what the pod of a process adds. */
export function readPods(processName: string): { shared: Pod; own: Pod } {
  const podOf = (file: string): Pod => {
    const found = readManifests(file).find(manifest => manifest.kind === 'Deployment')
    if (found === undefined) throw new Error(`${file} has no Deployment.`)
    return found.spec.template.spec
  }
  return { shared: podOf('every-process.yaml'), own: podOf(`${processName}.yaml`) }
}

/** The environment of a service of compose.yaml, such as `operator`. */
export function composeEnvironment(name: string): Environment {
  return readComposeService(name).environment
}

function readComposeService(name: string): ComposeService {
  const { services } = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true }) as {
    services: Readonly<Record<string, ComposeService>>
  }
  const service = services[name]
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}.`)
  return service
}

export const waysToRun: Readonly<Record<string, (processName: string) => ProcessPlan>> = {
  systemd: processName => {
    const { execStart, environment, stopTimeoutMs } = readUnit('deploy/systemd', processName)
    return { command: execStart.replace('/usr/bin/node', 'node'), environment, stopTimeoutMs }
  },
  'compose.yaml': processName => {
    const { command, environment, stop_grace_period: grace } = readComposeService(processName)
    return { command, environment, stopTimeoutMs: Number.parseInt(grace, 10) * 1_000 }
  },
  Kubernetes: processName => {
    const { shared, own } = readPods(processName)
    const [container] = own.containers
    const env = [...(shared.containers[0].env ?? []), ...(container.env ?? [])]
    return {
      command: (container.args ?? []).join(' '),
      environment: Object.fromEntries(env.map(({ name, value }) => [name, value])),
      stopTimeoutMs: own.terminationGracePeriodSeconds * 1_000
    }
  }
}
