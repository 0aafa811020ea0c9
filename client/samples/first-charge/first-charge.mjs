const { API_KEY, BASE_URL, TOKEN_ID } = process.env
const order = {
  amount_cents: 1990,
  external_reference: 'order-1',
  payment_source: { source_type: 'token', token_id: TOKEN_ID },
  customer: {
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
  }
}
// An exception: it may have been charged. Repeat with the same key.
const answer = await fetch(`${BASE_URL}/v1/payments`, {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${API_KEY}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': `order-1-${TOKEN_ID}` // store it first: a repeat needs the same
  },
  body: JSON.stringify(order)
})
console.log(answer.status, await answer.text()) // 201: paid. 202: read it again later. 422: declined
