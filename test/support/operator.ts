/** Runs a command line of the operator's CLI in this process. */
import { connectionOf } from '../../scripts/operator/connection.js'
import { runOperator } from '../../scripts/operator/program.js'

export interface OperatorAnswer {
  readonly code: number
  readonly out: string
  readonly err: string
  json(): unknown
}

/** `env` is in the place of the process's environment; `more` adds a terminal or a log. */
export async function operate(
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  more: Partial<Parameters<typeof runOperator>[1]> = {}
): Promise<OperatorAnswer> {
  let [out, err] = ['', '']
  const code = await runOperator(args, {
    connect: () => connectionOf(env),
    out: text => {
      out += text
    },
    err: text => {
      err += text
    },
    ...more
  })
  const json = (): unknown => {
    if (out === '') throw new Error(`Nothing was printed; exit code ${code}: ${err}`)
    return JSON.parse(out)
  }
  return { code, out, err, json }
}
