/** The right to begin calls, which its holder may lose at any time: a lock that expires, a process that stops. */
export interface Lease {
  /** Once it is lost, its holder begins no other call. */
  isLost(): boolean
  /** Calls `listener` when it is lost. Answers how to stop listening. */
  onLost(listener: () => void): () => void
}
