/**
 * Translates a Lua script into a JavaScript function, which the engine then optimises: worlds run the same few scripts
 * hundreds of thousands of times. An interpreter took 40 % of a world's time. Covers the part of Lua 5.1 that the
 * scripts of the service use, and refuses the rest.
 */
import luaparse, {
  type Expression,
  type FunctionDeclaration,
  type Identifier,
  type Statement,
  type TableConstructorExpression
} from 'luaparse'
import {
  globals,
  isLess,
  isTrue,
  type LuaValue,
  lengthOf,
  modulo,
  tableOf,
  tableWith,
  toNumber,
  toText
} from './lua-values.js'

/** Runs the script. Answers what it returns. */
export type CompiledLua = (keys: LuaValue, argv: LuaValue, redis: LuaValue, cjson: LuaValue) => LuaValue[]

/** What a translation refers to; the arguments follow. */
const REFERENCES = { globals, isLess, isTrue, lengthOf, modulo, tableOf, tableWith, toNumber, toText }
const GIVEN = ['KEYS', 'ARGV', 'redis', 'cjson']

/** `script`: one character per byte. Throws the parser's error, or an error that says what is not covered. */
export function compileLua(script: string): CompiledLua {
  const { body } = luaparse.parse(script, { luaVersion: '5.1', encodingMode: 'pseudo-latin1', comments: false })
  const source = `'use strict'; ${new Block(null).translate(body)} return []`
  const work = new Function(...Object.keys(REFERENCES), ...GIVEN, source) as (...values: unknown[]) => LuaValue[]
  return (...given) => work(...Object.values(REFERENCES), ...given)
}

/** A block of Lua and its local variables. Each gets a name of its own, because Lua may declare a name twice. */
class Block {
  static #variables = 0
  readonly #outer: Block | null
  readonly #names = new Map<string, string>()

  constructor(outer: Block | null) {
    this.#outer = outer
  }

  translate(body: readonly Statement[]): string {
    return body.map(statement => this.#statement(statement)).join('\n')
  }

  #declare({ name }: Identifier): string {
    const own = `${name}_${++Block.#variables}`
    this.#names.set(name, own)
    return own
  }

  #find(name: string): string | undefined {
    return this.#names.get(name) ?? (this.#outer === null ? undefined : this.#outer.#find(name))
  }

  /** A block within this one, whose first variables are `declared`. */
  #inner(body: readonly Statement[], declared: readonly Identifier[] = []): { names: string; code: string } {
    const block = new Block(this)
    const names = declared.map(variable => block.#declare(variable)).join(', ')
    return { names, code: block.translate(body) }
  }

  #statement(statement: Statement): string {
    switch (statement.type) {
      case 'LocalStatement': {
        const values = this.#list(statement.init)
        return `let [${statement.variables.map(variable => this.#declare(variable)).join(', ')}] = ${values};`
      }
      case 'AssignmentStatement': {
        const values = `const values = ${this.#list(statement.init)};`
        const moves = statement.variables.map((target, place) => this.#assign(target, `values[${place}]`))
        return `{ ${values} ${moves.join(' ')} }`
      }
      case 'CallStatement':
        return `${this.#all(statement.expression)};`
      case 'ReturnStatement':
        return `return ${this.#list(statement.arguments)};`
      case 'BreakStatement':
        return 'break;'
      case 'IfStatement': {
        const clauses = statement.clauses.map(clause => {
          const { code } = this.#inner(clause.body)
          return clause.type === 'ElseClause' ? `{ ${code} }` : `if (${this.#test(clause.condition)}) { ${code} }`
        })
        return clauses.join(' else ')
      }
      case 'DoStatement':
        return `{ ${this.#inner(statement.body).code} }`
      case 'ForNumericStatement': {
        const [from, to] = [this.#number(statement.start), this.#number(statement.end)]
        const step = statement.step === null ? '1' : this.#number(statement.step)
        const { names, code } = this.#inner(statement.body, [statement.variable])
        const head = `let i = ${from}, end = ${to}, step = ${step}; step > 0 ? i <= end : i >= end; i += step`
        return `for (${head}) { let ${names} = i; ${code} }`
      }
      case 'ForGenericStatement': {
        // `pairs` and `ipairs` answer a function that yields one row after the other, then none.
        const iterator = this.#list(statement.iterators)
        const { names, code } = this.#inner(statement.body, statement.variables)
        const head = `let next = ${iterator}[0], row = next(); row.length > 0; row = next()`
        return `for (${head}) { let [${names}] = row; ${code} }`
      }
      case 'FunctionDeclaration': {
        if (!statement.isLocal || statement.identifier?.type !== 'Identifier')
          return refuse('a function that is not local')
        return `const ${this.#declare(statement.identifier)} = ${this.#function(statement)};`
      }
      default:
        return refuse(statement.type)
    }
  }

  #assign(target: Expression, value: string): string {
    if (target.type === 'IndexExpression') {
      return `tableOf(${this.#one(target.base)}).set(${this.#one(target.index)}, ${value});`
    }
    const name = target.type === 'Identifier' ? this.#find(target.name) : undefined
    return name === undefined ? refuse('an assignment to what is not a local variable') : `${name} = ${value};`
  }

  /** An array of all values of some expressions: a call at the end gives as many as it returns. */
  #list(expressions: readonly Expression[]): string {
    const last = expressions.at(-1)
    if (last?.type !== 'CallExpression') return `[${expressions.map(each => this.#one(each)).join(', ')}]`
    if (expressions.length === 1) return this.#all(last)
    return `[${expressions
      .slice(0, -1)
      .map(each => `${this.#one(each)}, `)
      .join('')}...${this.#all(last)}]`
  }

  /** The array that a call returns. */
  #all(call: Expression): string {
    if (call.type !== 'CallExpression') return refuse(call.type)
    const isPlain = call.arguments.at(-1)?.type !== 'CallExpression'
    const args = this.#list(call.arguments)
    return `${this.#one(call.base)}(${isPlain ? args.slice(1, -1) : `...${args}`})`
  }

  /** The one value of an expression. */
  #one(expression: Expression): string {
    switch (expression.type) {
      case 'NilLiteral':
        return 'undefined'
      case 'BooleanLiteral':
      case 'NumericLiteral':
      case 'StringLiteral':
        return JSON.stringify(expression.value)
      case 'Identifier':
        return this.#variable(expression.name)
      case 'IndexExpression':
        return `tableOf(${this.#one(expression.base)}).get(${this.#one(expression.index)})`
      case 'MemberExpression':
        if (expression.indexer === ':') return refuse('a method')
        return `tableOf(${this.#one(expression.base)}).get('${expression.identifier.name}')`
      case 'CallExpression':
        return `${this.#all(expression)}[0]`
      case 'FunctionDeclaration':
        return this.#function(expression)
      case 'TableConstructorExpression':
        return this.#table(expression)
      case 'LogicalExpression': {
        const [left, right] = [this.#one(expression.left), this.#one(expression.right)]
        const choice = expression.operator === 'and' ? `${right} : left` : `left : ${right}`
        return `(left => isTrue(left) ? ${choice})(${left})`
      }
      case 'UnaryExpression':
        if (expression.operator === '#') return `lengthOf(${this.#one(expression.argument)})`
        if (expression.operator === '-') return `(-${this.#number(expression.argument)})`
        return `(!${this.#test(expression.argument)})`
      case 'BinaryExpression':
        return this.#operation(expression.operator, expression.left, expression.right)
      default:
        return refuse(expression.type)
    }
  }

  #operation(operator: string, left: Expression, right: Expression): string {
    const [one, other] = [this.#one(left), this.#one(right)]
    switch (operator) {
      case '==':
        return `(${one} === ${other})`
      case '~=':
        return `(${one} !== ${other})`
      case '<':
        return `isLess(${one}, ${other})`
      case '>':
        return `isLess(${other}, ${one})`
      case '<=':
        return `(!isLess(${other}, ${one}))`
      case '>=':
        return `(!isLess(${one}, ${other}))`
      case '..':
        return `(toText(${one}) + toText(${other}))`
      case '%':
        return `modulo(${this.#number(left)}, ${this.#number(right)})`
      case '+':
      case '-':
      case '*':
      case '/':
        return `(${this.#number(left)} ${operator} ${this.#number(right)})`
      default:
        return refuse(`the operator ${operator}`)
    }
  }

  #number(expression: Expression): string {
    return expression.type === 'NumericLiteral' ? String(expression.value) : `toNumber(${this.#one(expression)})`
  }

  #test(condition: Expression): string {
    return `isTrue(${this.#one(condition)})`
  }

  #variable(name: string): string {
    const own = this.#find(name)
    if (own !== undefined) return own
    if (GIVEN.includes(name)) return name
    return name in globals ? `globals.${name}` : refuse(name)
  }

  #function({ parameters, body }: FunctionDeclaration): string {
    const named = parameters.filter(parameter => parameter.type === 'Identifier')
    if (named.length < parameters.length) return refuse('...')
    const { names, code } = this.#inner(body, named)
    return `((${names}) => { ${code} return [] })`
  }

  #table({ fields }: TableConstructorExpression): string {
    const listed = fields.filter(field => field.type === 'TableValue').map(({ value }) => value)
    const keyed = fields.map(field => {
      if (field.type === 'TableValue') return ''
      const key = field.type === 'TableKeyString' ? `'${field.key.name}'` : this.#one(field.key)
      return `[${key}, ${this.#one(field.value)}], `
    })
    return `tableWith(${this.#list(listed)}, [${keyed.join('')}])`
  }
}

function refuse(what: string): never {
  throw new Error(`The simulated Lua does not know ${what}: add it to lua-compiler.ts or lua-values.ts.`)
}
