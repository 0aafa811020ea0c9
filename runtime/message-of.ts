/** The message of any thrown value, for sentences. A log takes the error itself, with its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
