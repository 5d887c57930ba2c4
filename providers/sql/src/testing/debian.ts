import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PLACE = '/usr/lib/postgresql'
const MINUTES = 60_000

/** Returns the folder of Debian's PostgreSQL, which is installed if possible, or the reason why not. */
export function debianPostgres(): { readonly folder: string } | { readonly missing: string } {
  const found = newest()
  if (found) return { folder: found }
  if (!existsSync('/usr/bin/apt-get')) return { missing: 'no PostgreSQL of Debian: this is no Debian' }
  if (process.getuid?.() !== 0) return { missing: 'no PostgreSQL of Debian: run `apt-get install postgresql` as root' }
  try {
    // The package would start its own server.
    mkdirSync('/etc/postgresql-common', { recursive: true })
    const choice = '/etc/postgresql-common/createcluster.conf'
    if (!existsSync(choice)) writeFileSync(choice, 'create_main_cluster = false\n')
    apt('update')
    apt('install', '-y', '--no-install-recommends', '-o', 'Dpkg::Options::=--force-confold', 'postgresql')
  } catch (error) {
    return { missing: `no PostgreSQL of Debian: ${error instanceof Error ? error.message : error}` }
  }
  const installed = newest()
  return installed ? { folder: installed } : { missing: `no PostgreSQL of Debian: nothing came into ${PLACE}` }
}

function newest(): string | undefined {
  const versions = existsSync(PLACE) ? readdirSync(PLACE) : []
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(PLACE, version))
    .find((folder) => existsSync(join(folder, 'bin', 'postgres')))
}

function apt(...args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, stderr } = spawnSync('apt-get', args, { env, timeout: 3 * MINUTES, encoding: 'utf8' })
  if (status !== 0) throw new Error(`apt-get ${args[0]} failed: ${(stderr ?? '').trim().split('\n').at(-1)}`)
}
