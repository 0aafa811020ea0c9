/**
 * Finds a Chromium for the browser tests, and fetches one without installing anything when the machine has none.
 *
 * Order: the PATH, the copy that an earlier run left in `.vendor/chromium`, the system's package manager.
 */
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  canFetchPackages,
  fetchPackages,
  findOnPath,
  isExecutable,
  libraryPathOf,
  runToEnd
} from '../../scripts/start/apt-packages.js'

/** A browser program and what its environment needs on top of the usual. */
export interface ChromiumBinary {
  readonly file: string
  readonly env: Readonly<Record<string, string>>
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** The program itself, not the shell script around it that knows an installed system only. */
const PROGRAM = 'usr/lib/chromium/chromium'
/** Without a font, pages are boxes; the packages of the browser bring none. */
const PACKAGES = ['chromium', 'fonts-dejavu-core', 'fontconfig-config']

export async function obtainChromium(vendorDir: string, say: (line: string) => void): Promise<ChromiumBinary> {
  const installed = NAMES.map(findOnPath).find(file => file !== undefined)
  if (installed !== undefined) return { file: installed, env: {} }
  const folder = join(resolve(vendorDir), 'chromium')
  const file = join(folder, PROGRAM)
  if (!isExecutable(file)) {
    if (!canFetchPackages()) {
      throw new Error(`There is no Chromium on the PATH (${NAMES.join(', ')}). Install one to run the browser tests.`)
    }
    say('Fetching Chromium into .vendor (nothing is installed on the system) ...')
    await fetchPackages({ vendorDir, name: 'chromium', packages: PACKAGES }, async unpacked => {
      // Rejects with the loader's words when a library is missing, rather than when the first page is opened.
      await runToEnd(join(unpacked, PROGRAM), ['--version'], { LD_LIBRARY_PATH: libraryPathOf(unpacked) })
    })
  }
  // Each time: it names the folder, and a checkout may have been moved or copied.
  await writeFile(join(folder, 'fonts.conf'), fontSettings(folder))
  return { file, env: { LD_LIBRARY_PATH: libraryPathOf(folder), FONTCONFIG_FILE: join(folder, 'fonts.conf') } }
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
