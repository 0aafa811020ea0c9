import { approvedTestCard } from '../../client/index.js'

/** The buyer of everything that this project tries out: her document has valid check digits and is fictitious. */
export const demoCustomer = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  document: '52998224725',
  phone: '11987654321',
  address: {
    zip_code: '01310100',
    street: 'Avenida Paulista',
    number: '1000',
    district: 'Bela Vista',
    city: 'Sao Paulo',
    state: 'SP'
  }
} as const

/** What she types into the card fields of the test environment: an approved card, valid for years. */
export const demoCard = approvedTestCard
