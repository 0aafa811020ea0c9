import { expect } from 'chai'
import type { AuthoriseRequest } from '../../../machines/network.js'
import { isRecord, parseJson } from '../../../runtime/json.js'
import { saleBody } from '../../../workers/network/sale-request.js'
import { purchase } from '../../support/card-network.js'

function body(changes: Partial<AuthoriseRequest> = {}): Readonly<Record<string, unknown>> {
  const parsed = parseJson(saleBody(purchase(changes)) ?? '')
  return isRecord(parsed) ? parsed : {}
}

function holder(holderName: string): Partial<AuthoriseRequest> {
  return { card: { ...purchase().card, holderName } }
}

describe('the body of a sale', () => {
  it('says what the acquirer needs, in its words', () => {
    expect(body({ brand: 'mastercard', installments: 3, capture: false })).to.deep.include({
      MerchantOrderId: 'order1',
      Payment: {
        Type: 'CreditCard',
        Amount: 10_000,
        Currency: 'BRL',
        Country: 'BRA',
        Installments: 3,
        Interest: 'ByMerchant',
        Capture: false,
        Authenticate: false,
        Recurrent: false,
        SoftDescriptor: 'LOJA',
        CreditCard: {
          CardNumber: '4024007153760060',
          Holder: 'Ana Souza',
          ExpirationDate: '12/2031',
          SecurityCode: '123',
          Brand: 'Master',
          SaveCard: false
        }
      }
    })
  })

  it('takes accents, digits and signs out of names and cuts them to size', () => {
    expect(body(holder("José D'Ávila-Gonçalves 3º da Conceição"))).to.have.nested.property(
      'Payment.CreditCard.Holder',
      'Jose D Avila Goncalves da'
    )
    const named = body({ buyer: { ...purchase().buyer, name: 'Érica 2 Lda.' } })
    expect(named).to.have.nested.property('Customer.Name', 'Erica Lda')
  })

  it('has a name even where no letter is left', () => {
    expect(body(holder('李小龍'))).to.have.nested.property('Payment.CreditCard.Holder', 'NAO INFORMADO')
  })

  it('cuts the descriptor to 13 plain characters, and leaves it out when nothing is left', () => {
    const descriptor = body({ statementDescriptor: 'Café & Cia* Loja 12' })
    expect(descriptor).to.have.nested.property('Payment.SoftDescriptor', 'Cafe Cia Loja')
    expect(body({ statementDescriptor: '***' })).not.to.have.nested.property('Payment.SoftDescriptor')
    expect(body({ statementDescriptor: null })).not.to.have.nested.property('Payment.SoftDescriptor')
  })

  it('writes letters without an accent to take off, and full width, in those of the acquirer', () => {
    const names = {
      'Weiß Øster Æbel Łuk': 'Weiss Oster AEbel Luk',
      ＡＮＡ: 'ANA',
      'Þór Đào': 'Thor Dao',
      ﬁlha: 'filha'
    }
    for (const [name, plain] of Object.entries(names)) {
      expect(body(holder(name)), name).to.have.nested.property('Payment.CreditCard.Holder', plain)
    }
  })

  it('cleans and cuts addresses, and leaves no required field empty', () => {
    const { buyer } = purchase()
    const cleaned = body({
      buyer: {
        ...buyer,
        address: {
          ...buyer.address,
          street: 'Praça da Sé, nº 5 – Edifício “Ønsk”',
          number: '１００ｂ',
          complement: '😀',
          district: '李',
          city: `${'São João '.repeat(8)}`
        }
      }
    })
    expect(cleaned).to.have.nested.include({
      'Customer.Address.Street': 'Praca da Se, no 5 Edificio Onsk',
      'Customer.Address.Number': '100b',
      'Customer.Address.District': 'NAO INFORMADO',
      'Customer.Address.City': 'Sao Joao Sao Joao Sao Joao Sao Joao Sao Joao Sao J'
    })
    expect(cleaned).not.to.have.nested.property('Customer.Address.Complement')
  })

  it('distinguishes CPF from CNPJ', () => {
    expect(body()).to.have.nested.property('Customer.IdentityType', 'CPF')
    for (const document of ['11222333000181', '12ABC34501DE35']) {
      const company = body({ buyer: { ...purchase().buyer, document } })
      expect(company).to.have.nested.include({ 'Customer.IdentityType': 'CNPJ', 'Customer.Identity': document })
    }
  })

  it('marks a stored card, for Mastercard with who initiated it', () => {
    const stored = body({ isStoredCard: true, brand: 'mastercard', card: { ...purchase().card, cvv: null } })
    expect(stored).to.have.nested.property('Payment.CreditCard.CardOnFile.Usage', 'Used')
    expect(stored).to.have.nested.property('Payment.InitiatedTransactionIndicator.Category', 'C1')
    expect(stored).not.to.have.nested.property('Payment.CreditCard.SecurityCode')
    expect(body({ isStoredCard: true })).not.to.have.nested.property('Payment.InitiatedTransactionIndicator')
  })

  it('does not exist for a brand that the acquirer does not know', () => {
    expect(saleBody(purchase({ brand: 'unionpay' }))).to.equal(null)
  })
})
