import { expect } from 'chai'
import { ServiceError } from '../../../api/http/service-error.js'
import { type CardRules, readCardInput } from '../../../api/tokens/card-input.js'
import { brandOf, isLuhnValid, lengthsOf } from '../../../machines/card-brands.js'
import { testCards } from '../../../machines/test-cards.js'

const rules: CardRules = { environment: 'test', nowMs: Date.parse('2026-11-20T12:00:00Z') }
const body = {
  card_number: '4024007153760060',
  holder_name: 'Conceição Araújo',
  expiration_month: '12',
  expiration_year: '2030',
  cvv: '123'
}

/** The error for a body that must be refused. */
function refusal(given: unknown, changes: Partial<CardRules> = {}): ServiceError {
  try {
    readCardInput(given, { ...rules, ...changes })
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('The card was accepted.')
}

describe('card that a buyer has typed', () => {
  it('is read with its brand', () => {
    expect(readCardInput({ ...body, holder_name: '  Conceição Araújo ' }, rules)).to.deep.equal({
      number: '4024007153760060',
      brand: 'visa',
      holderName: 'Conceição Araújo',
      expirationMonth: '12',
      expirationYear: '2030',
      cvv: '123'
    })
  })

  it('may have a name of 120 characters and a security code of four digits', () => {
    const longest = { holder_name: 'é'.repeat(120), cvv: '1234' }
    expect(readCardInput({ ...body, ...longest }, rules)).to.include({ holderName: longest.holder_name, cvv: '1234' })
  })

  it('may be any published test card', () => {
    for (const card of testCards) {
      expect(readCardInput({ ...body, card_number: card.number }, rules).brand).to.equal(card.brand)
    }
  })

  const broken: [field: string, value: unknown][] = [
    ...[undefined, null, 4024007153760060, '', '4024 0071 5376 0060', '4024007153760060a', '4'.repeat(20)].map(
      (value): [string, unknown] => ['card_number', value]
    ),
    ...[
      undefined,
      '',
      '   ',
      'A'.repeat(121),
      'A\nB',
      'A\u0000B',
      '\ud800',
      'A 4024-0071-5376-0060',
      '4024/0071/5376/0060',
      '４０２４００７１５３７６００６０',
      ['A']
    ].map((value): [string, unknown] => ['holder_name', value]),
    ...[undefined, '0', '00', '13', '1', '1.', 7].map((value): [string, unknown] => ['expiration_month', value]),
    ...[undefined, '30', '20300', 'MMXX', 2030, '2026-'].map((value): [string, unknown] => ['expiration_year', value]),
    ...[undefined, '', '12', '12345', '12a', 123, ' 123'].map((value): [string, unknown] => ['cvv', value]),
    ['number', '4024007153760060'],
    ['toString', 'x']
  ]
  for (const [field, value] of broken) {
    it(`is refused with ${field} = ${JSON.stringify(value)?.slice(0, 24)}, and the field is named`, () => {
      const error = refusal({ ...body, [field]: value })
      expect(error.code).to.equal('invalid_request')
      expect(error.fields?.map(({ path }) => path)).to.deep.equal([field])
    })
  }

  it('is refused with all its problems at once', () => {
    const error = refusal({ card_number: '4024007153760061', expiration_month: '1', cvv: '1', extra: 1 })
    expect(error.code).to.equal('invalid_request')
    expect(error.fields?.map(({ path }) => path)).to.have.members([
      'extra',
      'card_number',
      'holder_name',
      'expiration_month',
      'expiration_year',
      'cvv'
    ])
  })

  for (const notObject of [undefined, null, 'text', 1, [], [body]]) {
    it(`is refused when the body is ${JSON.stringify(notObject)?.slice(0, 10)}`, () => {
      expect(refusal(notObject)).to.deep.include({ fields: [{ path: 'body', message: 'must be a JSON object' }] })
    })
  }

  it('takes no property from the prototype of objects', () => {
    const error = refusal(JSON.parse('{"__proto__": {"cvv": "123"}, "constructor": 1}'))
    expect(error.fields?.map(({ path }) => path)).to.include.members(['__proto__', 'constructor', 'cvv'])
  })

  it('is invalid_card when the number is wrong, of an unknown brand, or no test card', () => {
    for (const number of ['4024007153760061', '9999999999999995', '4111111111111111']) {
      expect(refusal({ ...body, card_number: number }), number).to.deep.include({ code: 'invalid_card' })
    }
  })

  it('may be a real one in the live environment, and must have a brand there too', () => {
    expect(
      readCardInput({ ...body, card_number: '4111111111111111' }, { ...rules, environment: 'live' }).brand
    ).to.equal('visa')
    expect(refusal({ ...body, card_number: '9999999999999995' }, { environment: 'live' }).code).to.equal('invalid_card')
  })

  const prefixes = { visa: '4111', mastercard: '5555', elo: '506700', amex: '3782', hiper: '637095', aura: '5078' }
  for (const [brand, prefix] of Object.entries({ ...prefixes, hipercard: '606282', diners: '3056', jcb: '3530' })) {
    it(`has a length of its brand: ${brand}`, () => {
      const taken = Array.from({ length: 8 }, (_, at) => at + 12).filter(length => {
        const number = withCheckDigit(prefix.padEnd(length - 1, '0'))
        try {
          return readCardInput({ ...body, card_number: number }, { ...rules, environment: 'live' }).brand === brand
        } catch (error) {
          expect(error).to.have.nested.property('fields[0].message').that.contains(`those of ${brand} have`)
          return false
        }
      })
      expect(taken).to.deep.equal(lengthsOf(brandOf(prefix) ?? 'visa'))
    })
  }

  it('is good until its month has ended everywhere on Earth', () => {
    const card = { ...body, expiration_month: '11', expiration_year: '2026' }
    const lastMoment = Date.parse('2026-12-01T11:59:59Z')
    expect(readCardInput(card, { ...rules, nowMs: lastMoment })).to.include({ expirationMonth: '11' })
    const error = refusal(card, { nowMs: lastMoment + 1_000 })
    expect(error).to.deep.include({ fields: [{ path: 'expiration_year', message: 'the card is expired' }] })
  })

  it('is not repeated in any message or path', () => {
    const canary = '4024007153760061'
    const wrong = [
      { ...body, card_number: `${canary}x` },
      { ...body, card_number: canary },
      { ...body, holder_name: canary },
      { ...body, cvv: canary, expiration_month: canary, expiration_year: canary },
      { ...body, [canary]: canary },
      { ...body, card_number: '4111111111111111' }
    ]
    for (const given of wrong) {
      const { message, fields, stack } = refusal(given)
      expect(JSON.stringify([message, fields, stack])).not.to.match(/402400715376006|411111111111/)
    }
  })
})

function withCheckDigit(digits: string): string {
  return Array.from({ length: 10 }, (_, digit) => `${digits}${digit}`).find(isLuhnValid) ?? digits
}
