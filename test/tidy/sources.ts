/** What the tidy tests know about a source file: sizes, imports, and a few things that it uses. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from '@babel/parser'

export interface FunctionSize {
  readonly line: number
  /** Without the lines of describes inside it: those are read one by one. */
  readonly lines: number
  /** `describe` for the function that is given to a describe, else undefined. */
  readonly givenTo: string | undefined
}

export interface Source {
  /** Relative to the checkout, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly lines: number
  /** As written: `./x.js`, `node:fs`, `koa`. */
  readonly imports: readonly string[]
  /** Names of the constants, functions and classes that it exports. */
  readonly exports: readonly string[]
  /** Names that it imports or hands on, under the names that they have at home; `*` for a whole module. */
  readonly importedNames: readonly { readonly from: string; readonly name: string }[]
  readonly functions: readonly FunctionSize[]
  /** Dotted names and calls, such as `process.env`, `Date.now`, `fetch()`, `new Date()`, `any`, `it.only`. */
  readonly uses: ReadonlySet<string>
}

export const FOLDERS = [
  'api',
  'workers',
  'machines',
  'contract',
  'redis',
  'archive',
  'vault',
  'runtime',
  'client',
  'scripts',
  'test'
]

/** Every TypeScript file of the project, parsed. */
export function readSources(): Source[] {
  return FOLDERS.flatMap(folder => filesBelow(folder, '.ts')).map(readSource)
}

/** Paths of the files below `folder` whose names end in `ending`, without what a build makes; none when the folder does not exist. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith(ending) && !/(^|[\\/])dist[\\/]/.test(name))
    .map(name => join(folder, name).replaceAll('\\', '/'))
    .sort()
}

/** The path of the source that a relative import of `path` means. */
export function targetOf(path: string, specifier: string): string {
  return join(dirname(path), specifier).replaceAll('\\', '/').replace(/\.js$/, '.ts')
}

function readSource(path: string): Source {
  const text = readFileSync(path, 'utf8')
  const found: Findings = { imports: [], exports: [], importedNames: [], functions: [], uses: new Set() }
  const { program } = parse(text, { sourceType: 'module', plugins: ['typescript'], createImportExpressions: true })
  visit({ type: 'Program', body: program.body }, undefined, found)
  return { path, text, lines: text.split('\n').length - 1, ...found }
}

interface Findings {
  imports: string[]
  exports: string[]
  importedNames: { from: string; name: string }[]
  functions: FunctionSize[]
  uses: Set<string>
}

/** A node of the syntax tree, as far as it matters here. */
type Node = Record<string, unknown> & { type: string }

function visit(node: Node, parent: Node | undefined, found: Findings): void {
  record(node, parent, found)
  for (const child of childrenOf(node)) visit(child, node, found)
}

function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode)
}

const FUNCTIONS = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|\w*Method)$/

function record(node: Node, parent: Node | undefined, found: Findings): void {
  const source = node['source']
  if (isNode(source) && typeof source['value'] === 'string') {
    found.imports.push(source['value'])
    found.importedNames.push(...namesTaken(node, source['value']))
  }
  if (node.type === 'ExportNamedDeclaration' && isNode(node['declaration'])) {
    found.exports.push(...namesDeclared(node['declaration']))
  }
  if (FUNCTIONS.test(node.type)) found.functions.push(sizeOf(node, parent))
  if (node.type === 'MemberExpression') found.uses.add(nameOf(node))
  if (node.type === 'CallExpression' && isNode(node['callee'])) found.uses.add(`${nameOf(node['callee'])}()`)
  if (node.type === 'NewExpression' && isNode(node['callee']) && isEmpty(node['arguments'])) {
    found.uses.add(`new ${nameOf(node['callee'])}()`)
  }
  if (node.type === 'TSAnyKeyword') found.uses.add('any')
}

function namesTaken(node: Node, from: string): { from: string; name: string }[] {
  const specifiers = [node['specifiers'] ?? []].flat().filter(isNode)
  if (specifiers.length === 0) return [{ from, name: '*' }]
  return specifiers.map(specifier => {
    const name = specifier.type === 'ExportSpecifier' ? specifier['local'] : specifier['imported']
    return { from, name: isNode(name) ? nameOf(name) : '*' }
  })
}

/** Types are left out: one that stands in an exported signature is part of it, imported or not. */
function namesDeclared(declaration: Node): string[] {
  if (!/^(VariableDeclaration|FunctionDeclaration|ClassDeclaration)$/.test(declaration.type)) return []
  const declared = declaration.type === 'VariableDeclaration' ? childrenOf(declaration) : [declaration]
  return declared.flatMap(({ id }) => (isNode(id) ? nameOf(id) : []))
}

function sizeOf(node: Node, parent: Node | undefined): FunctionSize {
  const callee = parent?.type === 'CallExpression' && isNode(parent['callee']) ? nameOf(parent['callee']) : undefined
  return { line: placeOf(node).start.line, lines: linesOf(node) - innerDescribes(node), givenTo: callee }
}

function placeOf(node: Node): { start: { line: number }; end: { line: number } } {
  return node['loc'] as { start: { line: number }; end: { line: number } }
}

function linesOf(node: Node): number {
  const { start, end } = placeOf(node)
  return end.line - start.line + 1
}

function innerDescribes(node: Node): number {
  return childrenOf(node).reduce((lines, child) => {
    const isDescribe =
      child.type === 'CallExpression' && isNode(child['callee']) && nameOf(child['callee']) === 'describe'
    return lines + (isDescribe ? linesOf(child) : innerDescribes(child))
  }, 0)
}

/** `a.b.c` for a chain of names; `?` stands for anything else in it. */
function nameOf(node: Node): string {
  if (node.type === 'Identifier') return String(node['name'])
  if (node.type === 'ThisExpression') return 'this'
  const [object, property] = [node['object'], node['property']]
  return isNode(object) && isNode(property) ? `${nameOf(object)}.${nameOf(property)}` : '?'
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
