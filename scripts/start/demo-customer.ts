import { approvedTestCard } from '../../client/index.js'

/** The buyer of all demos, samples and tests. Her document is fictitious and has valid check digits. */
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

/** Her card: approved by the test environment, valid for years. */
export const demoCard = approvedTestCard
