import { expect } from 'chai'
import { escapeControlCharacters } from '../../runtime/escape-control-characters.js'

describe('text of strangers for a terminal', () => {
  it('shows what would command the terminal, or turn its text around', () => {
    expect(escapeControlCharacters('a\x9b2Jb\x1b[Hc\u202ed\u2066e')).to.equal('a\\u009b2Jb\\u001b[Hc\\u202ed\\u2066e')
  })

  it('leaves other text, lines and tabs, and JSON says the same as before', () => {
    expect(escapeControlCharacters('ação\t€ 😀\n')).to.equal('ação\t€ 😀\n')
    const value = { reference: 'nb\u202e\u009b' }
    expect(JSON.parse(escapeControlCharacters(JSON.stringify(value)))).to.deep.equal(value)
  })
})
