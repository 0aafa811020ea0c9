import { expect } from 'chai'
import { parsedUrl } from '../../runtime/parsed-url.js'

describe('parsedUrl', () => {
  it('is null for a text that is no URL', () => {
    for (const text of ['', 'shop.example', 'https://', 'https://a b/']) expect(parsedUrl(text), text).to.equal(null)
  })

  it('takes letters beyond ASCII, also when it is called often', () => {
    for (let times = 0; times < 50_000; times++)
      if (parsedUrl('https://b\u00fccher.example/')?.hostname !== 'xn--bcher-kva.example') expect.fail(`call ${times}`)
  })
})
