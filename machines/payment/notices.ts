/**
 * What the network announces. A notice is only a hint, and it may be lost, late or false: the network is asked, and its
 * record of the sale counts. It is read from another host than the one that announced it, and may be behind.
 */

/** While an operation runs, what the network announces is left for its end. */
export const remembersNotice = {
  NETWORK_NOTICE: { actions: 'noteNotice', description: 'Remembered until the running operation has ended.' }
} as const

/** Asking about what was announced, or found by another worker. */
export const asksAboutNotice = {
  NETWORK_NOTICE: { actions: ['noteNotice', 'askNetwork'], description: 'A notice is only a hint: ask the network.' },
  RECONCILE: { actions: 'askNetwork', description: 'Verify again what was announced.' }
} as const

/** Not found where it must be: the record that is read may be behind. */
export const notFoundNow = {
  actions: 'verifyNoticeLater',
  description: 'The network does not find the sale now: verify later.'
} as const

/** Answers that say nothing about what was announced. */
export const noticeStillOpen = {
  FOUND_UNFINISHED: { actions: 'verifyNoticeLater', description: 'The network does not know yet: verify later.' },
  ABSENT: [
    { guard: 'isAbsencePassing', ...notFoundNow },
    {
      guard: 'isChangeForgotten',
      actions: 'endNotice',
      description: 'The network tells of the sale no more, and nothing that calls for an answer was announced.'
    },
    { actions: ['endNotice', 'callForNotice'], description: 'The network does not tell of the sale: tell a person.' }
  ],
  NO_ANSWER: { actions: 'verifyNoticeLater', description: 'The network does not answer: verify later.' },
  POISONED: {
    actions: ['verifyNoticeLater', 'callForPoison'],
    description: 'The question failed too often: verify later, and tell a person.'
  }
} as const

/** A second sale under our order has turned up: the buyer must not pay twice. */
export const surplusTurnedUp = {
  guard: 'hasSurplus',
  actions: ['verifyNoticeLater', 'callForSurplus', 'voidSurplus'],
  description: 'There is a second sale: void it, and tell a person.'
} as const

/** What became of voiding it. */
export const surplusWasVoided = {
  APPROVED: { actions: 'askNetwork', description: 'The surplus is voided: look again.' },
  REJECTED: [
    {
      guard: 'isTooLate',
      actions: 'endNotice',
      description: 'The network does not void it any more: it is left to the person who was told.'
    },
    { actions: 'verifyNoticeLater', description: 'The surplus is not voided: again later.' }
  ],
  DECLINED: { actions: 'verifyNoticeLater', description: 'The surplus is not voided: again later.' },
  NOT_SENT: { actions: 'verifyNoticeLater', description: 'The network could not be reached: again later.' },
  AMBIGUOUS: { actions: 'verifyNoticeLater', description: 'Whether it is voided is not known: look later.' }
} as const

/** The record shows what we know. It may be behind: what was announced, and when, decides whether that is the end. */
export const nothingNew = [
  {
    guard: 'isNoticeAwaited',
    actions: 'verifyNoticeLater',
    description: 'The record does not show yet what was announced: verify later.'
  },
  {
    guard: 'isNoticeUnconfirmed',
    actions: ['endNotice', 'callForNotice'],
    description: 'The record never showed what was announced: tell a person.'
  },
  {
    guard: 'isChangeAwaited',
    actions: 'verifyChangeLater',
    description: 'The record shows what we know, and may be behind: look again.'
  },
  { actions: 'endNotice', description: 'The record shows what we know.' }
] as const

export const heldAgain = {
  actions: ['endNotice', 'callForFigures'],
  description: 'The network has the hold again: tell a person.'
} as const

/**
 * A hold that is let go needs nothing more, but the network may take that back: it announces a denied cancellation like
 * everything else that happens to a sale.
 */
export const verifiedGone = {
  ...asksAboutNotice,
  FOUND_VOIDED: [
    surplusTurnedUp,
    {
      guard: 'isChargedBack',
      actions: ['endNotice', 'callForFigures'],
      description: 'Captured without us before it was undone, and charged back: tell a person.'
    },
    ...nothingNew
  ],
  FOUND_DENIED: [surplusTurnedUp, { actions: 'endNotice', description: 'There is no hold.' }],
  FOUND_AUTHORISED: [surplusTurnedUp, heldAgain],
  FOUND_CAPTURED: [
    surplusTurnedUp,
    { actions: ['endNotice', 'callForFigures'], description: 'Captured without us: tell a person.' }
  ],
  ...surplusWasVoided,
  ...noticeStillOpen
} as const
