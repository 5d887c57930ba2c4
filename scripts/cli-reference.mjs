// Writes docs/reference/cli.md from the commands. A test reports when the page is out of date.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

const root = new URL('..', import.meta.url)
const { status } = spawnSync('npx', ['tsc', '-b', 'apps/crosstie'], { cwd: root, stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(1)
const { cliReference } = await import('../apps/crosstie/dist/reference/cli-page.js')
writeFileSync(new URL('docs/reference/cli.md', root), await cliReference())
console.log('wrote docs/reference/cli.md')
