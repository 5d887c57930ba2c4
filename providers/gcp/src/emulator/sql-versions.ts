import type { Item } from './values.js'

/** The patch that a major version runs, and its maintenance release. */
const installed: Readonly<Record<string, readonly [version: string, maintenance: string]>> = {
  MYSQL_5_6: ['MYSQL_5_6_51', 'R20231105.01_03'],
  MYSQL_5_7: ['MYSQL_5_7_44', 'R20231105.01_03'],
  MYSQL_8_0: ['MYSQL_8_0_41', 'R20251004.01_07'],
  MYSQL_8_4: ['MYSQL_8_4_7', 'R20251004.01_07'],
  POSTGRES_13: ['POSTGRES_13_15', 'R20240514.00_12'],
  POSTGRES_14: ['POSTGRES_14_12', 'R20240514.00_12'],
  POSTGRES_15: ['POSTGRES_15_7', 'R20240514.00_12'],
  POSTGRES_16: ['POSTGRES_16_3', 'R20240514.00_12'],
  POSTGRES_17: ['POSTGRES_17_5', 'R20251004.01_07'],
}

export function installedVersion(version: string): { readonly version: string; readonly maintenance: string } {
  const [patch, release] = installed[version] ?? [version, 'R20240514.00_12']
  return { version: patch, maintenance: `${patch}.${release}` }
}

const patches = [18, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37]

const offer = (name: string, majorVersion: string, displayName: string): Item => ({ displayName, majorVersion, name })
const mysql80 = (patch: number): Item => offer(`MYSQL_8_0_${patch}`, 'MYSQL_8_0', `MySQL 8.0.${patch}`)

/** The versions that an instance can be upgraded to, as Cloud SQL lists them, with its repetitions. */
export function upgradesOf(version: string): readonly Item[] {
  const postgres = /^POSTGRES_(\d+)$/.exec(version)?.[1]
  if (postgres !== undefined) {
    const next = Math.min(Number(postgres) + 1, 18)
    return next > Number(postgres) ? [offer(`POSTGRES_${next}`, `POSTGRES_${next}`, `PostgreSQL ${next}`)] : []
  }
  const first = [offer('MYSQL_8_0', 'MYSQL_8_0', 'MySQL 8.0'), ...patches.map(mysql80)]
  if (version === 'MYSQL_5_7') return first
  if (!version.startsWith('MYSQL_8_0')) return []
  return [...first, ...[...patches, 39, 40, 42, 43].map(mysql80), offer('MYSQL_8_4', 'MYSQL_8_4', 'MySQL 8.4')]
}
