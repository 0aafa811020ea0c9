/** The series in the text of `/metrics`. */
export interface Series {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

/** Reads what prom-client writes: no label of this service has a quotation mark in its value. */
export function parseSeries(metrics: string): Series[] {
  return [...metrics.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', text = '', value]) => {
    const pairs = [...text.matchAll(/(\w+)="([^"]*)"/g)]
    return {
      name,
      labels: new Map(pairs.map(([, label = '', content = '']) => [label, content])),
      value: Number(value)
    }
  })
}
