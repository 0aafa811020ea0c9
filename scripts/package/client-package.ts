/** `npm pack` of the client runs this first: bootstrap.mjs has installed and built, and the package takes its part of the build. */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')
const [from, to] = [`${root}/dist/client`, `${root}/client/dist`]
rmSync(to, { recursive: true, force: true })
mkdirSync(to)
for (const name of readdirSync(from)) {
  if (/\.(js|d\.ts)$/.test(name)) copyFileSync(`${from}/${name}`, `${to}/${name}`)
}
