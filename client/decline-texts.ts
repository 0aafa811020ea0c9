/** Made by `npm run docs` from machines/decline-messages.ts. */
import type { DeclineReason } from './answer-types.js'

/** A sentence for buyers for each reason of a decline. */
export const declineTexts: Readonly<Record<DeclineReason, { readonly en: string; readonly 'pt-BR': string }>> = {
  insufficient_funds: {
    en: 'The card does not have enough balance or limit. Nothing was charged; please use another card.',
    'pt-BR': 'O cartão não tem saldo ou limite suficiente. Nada foi cobrado; use outro cartão.'
  },
  limit_exceeded: {
    en: 'This purchase is above a limit of the card. Nothing was charged; please use another card, or ask your bank.',
    'pt-BR': 'A compra passa de um limite do cartão. Nada foi cobrado; use outro cartão ou fale com o seu banco.'
  },
  expired_card: {
    en: 'The card has expired, or its expiry date is wrong. Nothing was charged; check the date, or use another card.',
    'pt-BR': 'O cartão está vencido, ou a validade está errada. Nada foi cobrado; confira a data ou use outro cartão.'
  },
  blocked_card: {
    en: 'The bank did not accept this card. Nothing was charged; please use another card, or ask your bank.',
    'pt-BR': 'O banco não aceitou este cartão. Nada foi cobrado; use outro cartão ou fale com o seu banco.'
  },
  not_permitted: {
    en: 'This card cannot be used for this purchase. Nothing was charged; please use another card.',
    'pt-BR': 'Este cartão não pode ser usado nesta compra. Nada foi cobrado; use outro cartão.'
  },
  do_not_honor: {
    en: 'The bank did not approve the purchase. Nothing was charged; use another card, or ask your bank and try again.',
    'pt-BR':
      'O banco não aprovou a compra. Nada foi cobrado; use outro cartão, ou fale com o seu banco e tente de novo.'
  },
  suspected_fraud: {
    en: 'The bank did not confirm the purchase. Nothing was charged; please ask your bank, or use another card.',
    'pt-BR': 'O banco não confirmou a compra. Nada foi cobrado; fale com o seu banco ou use outro cartão.'
  },
  invalid_data: {
    en: 'The card details are not right. Nothing was charged; please type them again.',
    'pt-BR': 'Os dados do cartão não conferem. Nada foi cobrado; digite os dados de novo.'
  },
  issuer_unavailable: {
    en: 'The bank does not answer just now. Nothing was charged; please try again in some minutes.',
    'pt-BR': 'O banco não respondeu. Nada foi cobrado; tente de novo em alguns minutos.'
  },
  technical_error: {
    en: 'The purchase could not be processed. Nothing was charged; please use another card, or contact the shop.',
    'pt-BR': 'Não foi possível processar a compra. Nada foi cobrado; use outro cartão ou fale com a loja.'
  },
  other: {
    en: 'The card was declined. Nothing was charged; please use another card.',
    'pt-BR': 'O cartão foi recusado. Nada foi cobrado; use outro cartão.'
  }
}
