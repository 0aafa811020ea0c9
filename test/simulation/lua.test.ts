import { expect } from 'chai'
import { useRedis } from '../support/redis.js'
import { runLua } from './lua.js'
import { ReplyError } from './lua-values.js'

/** Where Lua and JavaScript differ. */
const SNIPPETS = [
  'return {0 and 1, "" or 2, nil or 3, not 0 and 4 or 5}',
  'return {"10" + 5, 7 / 2, -7 % 3, 2 * "3", 1 .. 2, 0.1 + 0.2 .. ""}',
  'return {#"çã", string.sub("çã", 1, 2), string.sub("abc", -2), string.sub("abc", 2, -2), string.sub("abc", 5)}',
  'local x = 1 local x = x + 1 do local x = 9 end return x',
  'local a, b, c = unpack({1, 2}) local d = {unpack({3, 4}), unpack({5, 6})} return {a, b, c == nil, #d}',
  'local a, b = 1, 2 a, b = b, a return {a, b}',
  'local t = {} t[2] = "b" t[1] = "a" t[3] = "c" t[3] = nil return {#t, t[2], t.absent}',
  'local t = {1, 2, nil, 4} return t',
  'local sum = 0 for i = 10, 1, -3 do sum = sum + i if i < 5 then break end end return sum',
  'local n = 0 for _, v in ipairs({1, 2, nil, 4}) do n = n + v end for k in pairs({[n] = 1}) do n = n + k end return n',
  'local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t',
  'local t = {"b", "a", "ab"} table.sort(t) return t',
  'return {string.match("12 ab", "^(%d+) (%S+)$")}',
  'return {string.match("[1,23,x]", "^%[%d+,(%d+),")}',
  'return {string.match("ab\\ncd", "^[^\\n]*"), string.find("a.b", ".b", 1, true)}',
  'return string.format("%.3f", tonumber(" 1.5 ") + (tonumber("x") or 0))',
  'return string.format("[1,%s,%s]", "a", "1.5", "unused")',
  'return {1 == "1", "10" < "9", true, false, 1}',
  'return {1.9, -1.9, math.floor(-1.5), math.max(1, "3")}',
  'local function f(x) if x then return x, 2 end end return {f(), f(1)}'
]
const MISTAKES = ['return 1 + {}', 'return 1 < "2"', 'local t return t.x', 'return "a" .. nil', 'return #1']

describe('Lua in simulated worlds', () => {
  const test = useRedis()
  const run = (script: string): unknown => runLua(script, [], [], () => null)

  it('means what it means to a real server', async () => {
    for (const script of SNIPPETS) expect(run(script), script).to.deep.equal(await test.redis.eval(script, 0))
  })

  it('fails where it fails on a real server', async () => {
    for (const script of MISTAKES) {
      const [real] = await Promise.allSettled([test.redis.eval(script, 0)])
      expect(real.status, script).to.equal('rejected')
      expect(() => run(script), script).to.throw(ReplyError)
    }
  })

  it('is refused where the translation does not cover it', () => {
    for (const script of [
      'while true do end',
      'x = 1',
      'return cmsgpack.pack({})',
      'return string.match("a", "%b()")'
    ]) {
      expect(() => run(script), script).to.throw('add it to')
    }
  })
})
