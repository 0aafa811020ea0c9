/** Which texts a merchant sets on a create and reads back, and what is true of each. */

/** What may name the buyer is erased with the buyer. Events are not, so none of them says it. */
type MerchantTextRule =
  | { readonly mayNameBuyer: true; readonly isInEvents: false }
  | { readonly mayNameBuyer: false; readonly isInEvents: boolean }

/** Texts that the merchant sets and reads back. Each also has its row in contract/merchant-texts.ts. */
export const merchantTexts = {
  statementDescriptor: { mayNameBuyer: false, isInEvents: false }
} as const satisfies Readonly<Record<string, MerchantTextRule>>

export type MerchantText = keyof typeof merchantTexts
export type MerchantTexts = Readonly<Record<MerchantText, string | null>>
type TextsWhere<Rule> = {
  [Text in MerchantText]: (typeof merchantTexts)[Text] extends Rule ? Text : never
}[MerchantText]
export type TextInEvents = TextsWhere<{ readonly isInEvents: true }>

const textNames = Object.keys(merchantTexts) as MerchantText[]
const textRules: Readonly<Record<MerchantText, MerchantTextRule>> = merchantTexts
export const textsInEvents = textNames.filter((text): text is TextInEvents => textRules[text].isInEvents)
export const textsOfBuyer = textNames.filter(text => textRules[text].mayNameBuyer)
/** Where none is set. */
export const noTexts = withoutTexts(textNames)

/** Null in place of some texts. */
export function withoutTexts<Text extends MerchantText>(texts: readonly Text[]): Readonly<Record<Text, null>> {
  return Object.fromEntries(texts.map(text => [text, null])) as Record<Text, null>
}
