import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ProviderSource, sourceText } from './source.js'
import { compareVersions, parseConstraint, parseVersion, type Version } from './version.js'

/** A provider that is ready to be started. */
export interface InstalledProvider {
  readonly version: string
  /** The binary. */
  readonly path: string
  /** Of the package, as Terraform's lock file has it: `h1:…`. */
  readonly checksum: string
}

/** The platform of this process, in Terraform's words. */
export function currentPlatform(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const architecture = { x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch
  return `${system}_${architecture}`
}

/**
 * The newest version of a provider in a filesystem mirror that a constraint allows. The mirror has Terraform's unpacked
 * layout: `HOST/NAMESPACE/TYPE/VERSION/PLATFORM/`. Throws with what the mirror has when nothing fits.
 */
export async function findInMirror(
  mirror: string,
  source: ProviderSource,
  constraint = '',
  platform = currentPlatform(),
): Promise<InstalledProvider> {
  const folder = join(mirror, source.host, source.namespace, source.type)
  const allows = parseConstraint(constraint)
  const versions = await versionsIn(folder)
  const what = `${sourceText(source)}${constraint.trim() === '' ? '' : ` ${constraint.trim()}`}`
  if (versions.length === 0) throw new Error(`the mirror ${mirror} has no version of ${what}`)
  const allowed = versions.filter(allows)
  if (allowed.length === 0) {
    throw new Error(`the mirror ${mirror} has no version of ${what}: it has ${textOf(versions)}`)
  }
  for (const version of allowed) {
    const installed = await packageIn(join(folder, version.text, platform), source.type, version)
    if (installed) return installed
  }
  throw new Error(`the mirror ${mirror} has ${what} in ${textOf(allowed)}, and not for the platform ${platform}`)
}

const textOf = (versions: readonly Version[]): string => versions.map(({ text }) => text).join(', ')

/** The newest first. */
async function versionsIn(folder: string): Promise<readonly Version[]> {
  const names = await namesIn(folder)
  const versions = names.flatMap((name) => parseVersion(name) ?? [])
  return versions.sort((a, b) => compareVersions(b, a))
}

async function packageIn(folder: string, type: string, { text }: Version): Promise<InstalledProvider | undefined> {
  const names = await namesIn(folder)
  const binary = names.find((name) => new RegExp(`^terraform-provider-${type}(_v[^/]*)?(\\.exe)?$`).test(name))
  if (binary === undefined) return undefined
  return { version: text, path: join(folder, binary), checksum: await packageChecksum(folder) }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}

/** The digest of a package: of the digests and names of its files, in order. */
export async function packageChecksum(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
  const whole = createHash('sha256')
  for (const file of files) {
    const digest = createHash('sha256')
      .update(await readFile(join(folder, file)))
      .digest('hex')
    whole.update(`${digest}  ${file}\n`)
  }
  return `h1:${whole.digest('base64')}`
}
