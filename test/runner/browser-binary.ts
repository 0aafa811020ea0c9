/**
 * Finds a browser for the tests, and fetches one without installing anything when the machine has none.
 *
 * Order: the PATH, the copy that an earlier run left in `.vendor`, the system's package manager.
 */
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { messageOf } from '../../runtime/message-of.js'
import { findOnPath, isExecutable, libraryPathOf, obtainUnpacked, runToEnd } from '../../scripts/start/apt-packages.js'

export const BROWSER_NAMES = ['chromium', 'firefox'] as const
export type BrowserName = (typeof BROWSER_NAMES)[number]

/** The browser that `npm test` has chosen for the tests of this process. */
export function browserOfThisRun(): BrowserName {
  return process.env['TEST_BROWSER'] === 'firefox' ? 'firefox' : 'chromium'
}

/** A browser program and what its environment needs on top of the usual. */
export interface BrowserBinary {
  readonly file: string
  readonly env: Readonly<Record<string, string>>
}

interface Product {
  readonly title: string
  /** Names of the program on the PATH. */
  readonly commands: readonly string[]
  readonly debianPackage: string
  /** The program itself inside the package, not the shell script around it that knows an installed system only. */
  readonly program: string
}

const PRODUCTS: Readonly<Record<BrowserName, Product>> = {
  chromium: {
    title: 'Chromium',
    commands: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    debianPackage: 'chromium',
    program: 'usr/lib/chromium/chromium'
  },
  firefox: {
    title: 'Firefox',
    commands: ['firefox-esr', 'firefox'],
    debianPackage: 'firefox-esr',
    program: 'usr/lib/firefox-esr/firefox-esr'
  }
}

/** Without a font, pages are boxes; the packages of the browsers bring none. */
const FONT_PACKAGES = ['fonts-dejavu-core', 'fontconfig-config']

export async function obtainBrowser(
  name: BrowserName,
  vendorDir: string,
  say: (line: string) => void
): Promise<BrowserBinary> {
  const { title, commands, debianPackage, program } = PRODUCTS[name]
  const installed = commands.map(findOnPath).find(file => file !== undefined)
  if (installed !== undefined) return { file: installed, env: {} }
  const options = { vendorDir: resolve(vendorDir), name, packages: [debianPackage, ...FONT_PACKAGES], say }
  const folder = await obtainUnpacked(
    options,
    unpacked => (isExecutable(join(unpacked, program)) ? unpacked : undefined),
    async unpacked => {
      // Rejects with the loader's error when a library is missing, not when the first page is opened.
      await runToEnd(join(unpacked, program), ['--version'], { LD_LIBRARY_PATH: libraryPathOf(unpacked) })
    }
  ).catch((error: unknown) => {
    throw new Error(
      `There is no ${title} on the PATH (${commands.join(', ')}), and fetching one did not work: ${messageOf(error)}.`
    )
  })
  // Each time: it names the folder, and a checkout may have been moved or copied.
  await writeFile(join(folder, 'fonts.conf'), fontSettings(folder))
  const env = { LD_LIBRARY_PATH: libraryPathOf(folder), FONTCONFIG_FILE: join(folder, 'fonts.conf'), HOME: folder }
  return { file: join(folder, program), env }
}

/** The system's own settings would look for fonts in the system's folders only. */
function fontSettings(folder: string): string {
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    '<fontconfig>',
    `  <dir>${folder}/usr/share/fonts</dir>`,
    '  <dir>/usr/share/fonts</dir>',
    `  <cachedir>${folder}/font-cache</cachedir>`,
    '</fontconfig>',
    ''
  ].join('\n')
}
