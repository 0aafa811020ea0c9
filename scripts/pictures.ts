/** `npm run pictures`: the test of the inspector takes pictures as it goes; here they go to docs/images (PICTURES_DIR). */
import { readCommandLine, toolCommand } from './command-line/tool.js'

readCommandLine(
  toolCommand({
    name: 'pictures',
    does: 'Takes the screenshots of the inspector in docs/images with a headless Chromium, from a service of its own.',
    takes: 'about half a minute; the first time longer, when there is no Chromium yet.'
  })
)
process.argv.push('scripts/inspector/following')
await import('./test.js')
