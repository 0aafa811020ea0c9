/** What a worker does for each kind of effect, in the words of the chart's pages and of the tests. */
export const effectWords = {
  authorise: 'authorise',
  query: 'ask',
  capture: 'capture',
  void: 'void',
  refund: 'refund'
} as const
