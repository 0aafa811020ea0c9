/** `npm run pictures`: the tests of the inspector and the shop take them as they go, here for docs/images (PICTURES_DIR). */
import { readCommandLine, toolCommand } from '../../scripts/command-line/tool.js'

readCommandLine(
  toolCommand({
    name: 'pictures',
    does: 'Takes the screenshots of the inspector and the shop in docs/images with a headless Chromium, from a service of its own.',
    takes: 'about a minute; the first time longer, when there is no Chromium yet.'
  })
)
process.argv.push('scripts/inspector/following', 'card-data/shop')
await import('./test.js')
