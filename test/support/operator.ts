/** Runs a command line of the operator's CLI in this process. */
import { connectionOf } from '../../scripts/operator/connection.js'
import { runOperator } from '../../scripts/operator/program.js'

export interface OperatorAnswer {
  readonly code: number
  readonly out: string
  readonly err: string
  /** Both, in the order in which they were printed. */
  readonly text: string
  json(): ReturnType<typeof JSON.parse>
}

/** `env` replaces the process's environment; `more` adds a terminal or a log. */
export async function operate(
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  more: Partial<Parameters<typeof runOperator>[1]> = {}
): Promise<OperatorAnswer> {
  let [out, err, text] = ['', '', '']
  const code = await runOperator(args, {
    connect: () => connectionOf(env),
    env,
    out: printed => {
      out += printed
      text += printed
    },
    err: printed => {
      err += printed
      text += printed
    },
    ...more
  })
  const json = () => {
    if (out === '') throw new Error(`Nothing was printed; exit code ${code}: ${err}`)
    return JSON.parse(out)
  }
  return { code, out, err, text, json }
}
