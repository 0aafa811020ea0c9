/**
 * Each reason of a decline in words: why, for merchants' engineers, and a sentence for buyers in both languages. Buyers are
 * not told of a lost or stolen card, or of a suspicion: the person at the page may not be its holder.
 */
import type { Decline, DeclineReason } from './declines.js'

export interface DeclineMessage {
  readonly why: string
  /** In the place of the advice that follows from `mayRetry`. */
  readonly advice?: string
  readonly buyer: { readonly en: string; readonly 'pt-BR': string }
}

export const declineMessages: Readonly<Record<DeclineReason, DeclineMessage>> = {
  insufficient_funds: {
    why: 'too little money or limit',
    buyer: {
      en: 'The card does not have enough balance or limit. Nothing was charged; please use another card.',
      'pt-BR': 'O cartão não tem saldo ou limite suficiente. Nada foi cobrado; use outro cartão.'
    }
  },
  limit_exceeded: {
    why: 'above a limit of the card, or too many tries',
    buyer: {
      en: 'This purchase is above a limit of the card. Nothing was charged; please use another card, or ask your bank.',
      'pt-BR': 'A compra passa de um limite do cartão. Nada foi cobrado; use outro cartão ou fale com o seu banco.'
    }
  },
  expired_card: {
    why: 'it is expired, or its expiry is wrong',
    advice: 'let the buyer type a valid card',
    buyer: {
      en: 'The card has expired, or its expiry date is wrong. Nothing was charged; check the date, or use another card.',
      'pt-BR': 'O cartão está vencido, ou a validade está errada. Nada foi cobrado; confira a data ou use outro cartão.'
    }
  },
  blocked_card: {
    why: 'it is blocked',
    buyer: {
      en: 'The bank did not accept this card. Nothing was charged; please use another card, or ask your bank.',
      'pt-BR': 'O banco não aceitou este cartão. Nada foi cobrado; use outro cartão ou fale com o seu banco.'
    }
  },
  not_permitted: {
    why: 'it may not be used for this purchase',
    buyer: {
      en: 'This card cannot be used for this purchase. Nothing was charged; please use another card.',
      'pt-BR': 'Este cartão não pode ser usado nesta compra. Nada foi cobrado; use outro cartão.'
    }
  },
  do_not_honor: {
    why: 'no reason is given',
    buyer: {
      en: 'The bank did not approve the purchase. Nothing was charged; use another card, or ask your bank and try again.',
      'pt-BR':
        'O banco não aprovou a compra. Nada foi cobrado; use outro cartão, ou fale com o seu banco e tente de novo.'
    }
  },
  suspected_fraud: {
    why: 'a suspicion of the issuer',
    buyer: {
      en: 'The bank did not confirm the purchase. Nothing was charged; please ask your bank, or use another card.',
      'pt-BR': 'O banco não confirmou a compra. Nada foi cobrado; fale com o seu banco ou use outro cartão.'
    }
  },
  invalid_data: {
    why: 'data of the card, the amount or the installments are wrong',
    advice: 'let the buyer type the card again, if the amount and the installments are right',
    buyer: {
      en: 'The card details are not right. Nothing was charged; please type them again.',
      'pt-BR': 'Os dados do cartão não conferem. Nada foi cobrado; digite os dados de novo.'
    }
  },
  issuer_unavailable: {
    why: 'the issuer did not answer',
    advice: 'try again in some minutes',
    buyer: {
      en: 'The bank does not answer just now. Nothing was charged; please try again in some minutes.',
      'pt-BR': 'O banco não respondeu. Nada foi cobrado; tente de novo em alguns minutos.'
    }
  },
  technical_error: {
    why: 'a technical error',
    advice: 'tell the operator',
    buyer: {
      en: 'The purchase could not be processed. Nothing was charged; please use another card, or contact the shop.',
      'pt-BR': 'Não foi possível processar a compra. Nada foi cobrado; use outro cartão ou fale com a loja.'
    }
  },
  other: {
    why: 'a reason that is not told',
    buyer: {
      en: 'The card was declined. Nothing was charged; please use another card.',
      'pt-BR': 'O cartão foi recusado. Nada foi cobrado; use outro cartão.'
    }
  }
}

/** What happened and what to do, for merchants. */
export function declineSentence({ reason, mayRetry }: Decline): string {
  const { why, advice } = declineMessages[reason]
  const ofCard = mayRetry
    ? 'this card may be tried again later, or ask the buyer for another one'
    : 'do not try this card again, and ask the buyer for another one'
  return `The issuer declined the card: ${why}. Nothing was charged; ${advice ?? ofCard}. A new try needs a new Idempotency-Key.`
}
