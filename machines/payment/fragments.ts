/** Fragments that several states share: what an open question does, and what happens to a call whose fate is in doubt. */

/** Answers that leave an open question open. */
export const stillOpen = {
  NO_ANSWER: { actions: 'askLater', description: 'The network does not answer: ask again later.' },
  FOUND_UNFINISHED: { actions: 'askLater', description: 'The network does not know yet: ask again later.' },
  POISONED: {
    actions: ['askLater', 'callForPoison'],
    description: 'The question failed too often: ask again later, and tell a person.'
  }
} as const

/** What is asked and answered while it is not known whether an operation on a hold is booked, but for what ends that. */
export const asksAboutHold = {
  RECONCILE: { actions: 'askNetwork', description: 'Ask by our order id.' },
  ABSENT: { actions: 'askLater', description: 'Contradicts the authorisation: ask again later.' },
  ...stillOpen
} as const

/** The acquirer's record denies a sale that was authorised; that may be so for a moment only. */
export const deniedForNow = {
  actions: ['askLater', 'callForFigures'],
  description: 'Contradicts the authorisation: tell a person, and ask again later.'
} as const

/** A person has seen that an operation on a hold is not booked. Whether the hold stands is asked at once. */
export const concludedAsMissing = {
  guard: 'isConcludedAsMissing',
  target: '#payment.pre_authorized',
  actions: ['fail', 'settleAttention', 'noteNotice'],
  description: 'A person has seen that it is not booked: back to the hold, and look how it stands.'
} as const

/** A call that may or may not have been booked is asked about, never repeated blindly. */
export const inDoubt = {
  AMBIGUOUS: { target: 'asking', actions: 'beginInquiry', description: 'No conclusive answer: ask.' },
  RESUMED: { target: 'asking', actions: 'beginInquiry', description: 'Redelivered after a crash: ask.' },
  POISONED: {
    target: 'asking',
    actions: ['beginInquiry', 'callForPoison'],
    description: 'Delivered too often: ask, and tell a person.'
  }
} as const

/** A void that surely did not happen leaves a hold or another sale: look again later. */
export const notVoided = {
  REJECTED: { actions: 'askLater', description: 'Not voided: look again later.' },
  DECLINED: { actions: 'askLater', description: 'Not voided: look again later.' },
  NOT_SENT: { actions: 'askLater', description: 'The network could not be reached: again later.' },
  AMBIGUOUS: { actions: 'askLater', description: 'Whether it is voided is not known: look again later.' }
} as const

/**
 * A capture or void of a hold that did not happen leaves the pre-authorisation as it was. Not so while an earlier try
 * may still arrive: then this answer says nothing about that one.
 */
export const backToHold = {
  REJECTED: holdUnlessInDoubt('Refused this time', 'The network refused: the hold stays.'),
  DECLINED: holdUnlessInDoubt('Refused this time', 'The issuer refused: the hold stays.'),
  NOT_SENT: holdUnlessInDoubt('Not sent this time', 'The network could not be reached; nothing was sent.')
} as const

function holdUnlessInDoubt(thisTime: string, description: string) {
  return [
    {
      guard: 'isEarlierTryInDoubt',
      target: 'asking',
      actions: 'keepAsking',
      description: `${thisTime}, but an earlier try may still arrive: ask.`
    },
    { target: '#payment.pre_authorized', actions: 'fail', description }
  ] as const
}

/** More than one sale under our order: the buyer must not pay twice. Asked again when it is voided, or later. */
export const surplusFirst = {
  guard: 'hasSurplus',
  actions: ['askLater', 'callForSurplus', 'voidSurplus'],
  description: 'There is a second sale: void it first, and tell a person.'
} as const

/** What became of voiding a surplus sale while the outcome of an operation is asked about. */
export const surplusVoided = {
  APPROVED: { actions: 'askNetwork', description: 'The surplus is voided: look again.' },
  ...notVoided
} as const
