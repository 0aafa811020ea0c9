/** The message of any thrown value, for sentences. A log takes the error itself, with its stack. */
export function messageOf(error: unknown): string {
  // Of a name with several addresses, none of which answers: only the errors inside have messages.
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
