import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** Real Terraform providers, built from source once and kept outside of the repository. */
const providers = {
  random: {
    version: '3.9.0',
    module: 'github.com/terraform-providers/terraform-provider-random@v1.3.2-0.20260824155315-e1092b0cfc07',
  },
  time: { version: '0.14.2', module: 'github.com/hashicorp/terraform-provider-time@v0.14.2' },
  tls: {
    version: '4.4.0',
    module: 'github.com/hashicorp/terraform-provider-tls@v1.2.1-0.20260819085117-d044ca7c6f52',
  },
  local: {
    version: '2.9.0',
    module: 'github.com/terraform-providers/terraform-provider-local@v1.4.1-0.20260513075820-3561e410f9fe',
  },
} as const

export type ProviderName = keyof typeof providers
export const providerNames = Object.keys(providers) as readonly ProviderName[]

const run = promisify(execFile)
const cache = process.env['CROSSTIE_CACHE'] ?? join(homedir(), '.cache', 'crosstie')

/** A folder that Terraform knows as a filesystem mirror: `host/namespace/type/version/platform/binary`. */
export const mirror = join(cache, 'terraform', 'mirror')

const platform = `${process.platform === 'win32' ? 'windows' : process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`

export function versionOf(name: ProviderName): string {
  return providers[name].version
}

/** Where the binary is, whether it was built or not. */
export function binaryOf(name: ProviderName): string {
  const { version } = providers[name]
  const file = `terraform-provider-${name}_v${version}`
  return join(mirror, 'registry.terraform.io', 'hashicorp', name, version, platform, file)
}

/** False, or why tests that need the provider are skipped. */
export function skipWithout(name: ProviderName): string | false {
  return existsSync(binaryOf(name)) ? false : `terraform-provider-${name} is not built: run node scripts/prepare.mjs`
}

/** Builds a provider if it is not there yet. Returns why it cannot be built, in one line, or undefined. */
export async function providerMissing(name: ProviderName): Promise<string | undefined> {
  const binary = binaryOf(name)
  if (existsSync(binary)) return undefined
  const folder = join(cache, 'terraform', `building-${name}-${process.pid}`)
  try {
    await mkdir(folder, { recursive: true })
    const args = ['install', '-p', '2', '-trimpath', '-ldflags', '-s -w', providers[name].module]
    await run('go', args, { env: { ...process.env, GOBIN: folder }, maxBuffer: 1 << 24 })
    await mkdir(dirname(binary), { recursive: true })
    // The binary appears whole or not at all.
    await rename(join(folder, `terraform-provider-${name}`), binary)
    return undefined
  } catch (error) {
    const why = (error as Error).message.split('\n').filter(Boolean).at(-1)
    return `terraform-provider-${name} cannot be built (Go and its module proxy are needed): ${why}`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
