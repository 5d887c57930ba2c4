import { mkdir, readlink, rm, symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { currentPlatform, findInMirror, type InstalledProvider } from './filesystem-mirror.js'
import { type ProviderSource, sourceText } from './source.js'

/** Where providers come from. */
export interface InstallSettings {
  /** A folder in the layout of a filesystem mirror. Given: nothing is taken from elsewhere. */
  readonly mirror?: string | undefined
  /** Where installed packages are kept, in the same layout. */
  readonly cache?: string | undefined
}

/** The version that was installed before, which stays as long as the constraint allows it. */
export interface Locked {
  readonly version: string
  readonly checksum: string
}

/** Packages that this user's control planes installed; commands on the same machine find them here. */
export function defaultCache(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return (
    env['CROSSTIE_TERRAFORM_CACHE'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'crosstie', 'plugins')
  )
}

/**
 * Installs a provider: the locked version if there is one, otherwise the newest that the constraint allows. Throws when
 * nothing fits, or when the package of the locked version is not the one that was locked.
 */
export async function installProvider(
  settings: InstallSettings,
  source: ProviderSource,
  constraint: string,
  locked?: Locked,
): Promise<InstalledProvider> {
  const { mirror, cache = defaultCache() } = settings
  const wanted = locked ? `= ${locked.version}` : constraint
  const installed = await findInMirror(mirror ?? cache, source, wanted)
  if (locked && installed.checksum !== locked.checksum) {
    throw new Error(
      `the package of ${sourceText(source)} ${installed.version} is not the one that was installed before: its checksum is ` +
        `${installed.checksum}, and status.checksum is ${locked.checksum}. Restore the package, or change spec.version`,
    )
  }
  if (mirror) await link(cache, source, installed).catch(() => {})
  return installed
}

/** Leaves a link to the package in the cache, as Terraform does, so that commands on this machine find it. */
async function link(cache: string, source: ProviderSource, { version, path }: InstalledProvider): Promise<void> {
  const place = join(cache, source.host, source.namespace, source.type, version, currentPlatform())
  const target = dirname(path)
  const held = await readlink(place).catch(() => undefined)
  if (held === target) return
  await mkdir(dirname(place), { recursive: true })
  if (held !== undefined) await rm(place)
  await symlink(target, place)
}
