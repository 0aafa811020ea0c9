/** A collector of OpenTelemetry: keeps the steps that processes export, as OTLP over HTTP in JSON. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One recorded step, and the process that recorded it. */
export interface CollectedSpan {
  readonly process: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
}

export interface Collector {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Everything that arrived, as it was sent. */
  text(): string
  stop(): Promise<void>
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] }
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, 'process'>[] }[]
  }[]
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      bodies.push(body)
      for (const { resource, scopeSpans } of (JSON.parse(body) as Export).resourceSpans) {
        const process = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? ''
        spans.push(...scopeSpans.flatMap(scope => scope.spans.map(span => ({ ...span, process }))))
      }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => bodies.join('\n'),
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** The trace of `root` as a tree, a step a line, in order of time; linked steps of other traces stand at its end. */
export function treeOf(spans: readonly CollectedSpan[], root: CollectedSpan): string[] {
  const byTime = (a: CollectedSpan, b: CollectedSpan): number =>
    Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano))
  const under = ({ spanId }: CollectedSpan, depth: number): string[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === spanId)
      .sort(byTime)
      .flatMap(child => [line(child, depth), ...under(child, depth + 1)])
  const line = ({ name, process }: CollectedSpan, depth: number): string => `${'  '.repeat(depth)}${name} (${process})`
  const linked = spans.filter(({ links = [] }) => links.some(({ traceId }) => traceId === root.traceId)).sort(byTime)
  return [line(root, 0), ...under(root, 1), ...linked.map(span => `linked: ${line(span, 0)}`)]
}
