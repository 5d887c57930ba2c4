import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { capture } from '../harness/children.js'

/** Programs of Kubernetes and related projects, built from the sources of their releases. */
export const PROGRAMS = [
  'etcd',
  'kubectl',
  'kube-apiserver',
  'kube-controller-manager',
  'helm',
  'e2e.test',
  'programs',
  'crossplane',
  'h2spec',
] as const
/** The name of a program. */
export type Program = (typeof PROGRAMS)[number]

/** The version of Kubernetes. */
export const KUBERNETES_VERSION = 'v1.34.4'

/** The folder of the Go modules in which the programs are built. */
const recipes = join(dirname(fileURLToPath(import.meta.url)), '../../..')
const cache = join(process.env['CROSSTIE_CACHE'] ?? join(homedir(), '.cache/crosstie'), 'kube')

const stamp = [
  '-s -w',
  `-X k8s.io/component-base/version.gitVersion=${KUBERNETES_VERSION}`,
  '-X k8s.io/component-base/version.gitMajor=1',
  '-X k8s.io/component-base/version.gitMinor=34',
].join(' ')

const builds: Record<Program, { folder: string; args: readonly string[] }> = {
  etcd: { folder: 'conformance/oracle/kube/etcd', args: ['build', '-o', 'OUT', '.'] },
  kubectl: {
    folder: 'conformance/oracle/kube',
    args: ['build', '-ldflags', stamp, '-o', 'OUT', 'k8s.io/kubernetes/cmd/kubectl'],
  },
  'kube-apiserver': {
    folder: 'conformance/oracle/kube',
    args: ['build', '-ldflags', stamp, '-o', 'OUT', 'k8s.io/kubernetes/cmd/kube-apiserver'],
  },
  'kube-controller-manager': {
    folder: 'conformance/oracle/kube',
    args: ['build', '-ldflags', stamp, '-o', 'OUT', 'k8s.io/kubernetes/cmd/kube-controller-manager'],
  },
  helm: {
    folder: 'conformance/oracle/helm',
    args: ['build', '-ldflags', '-s -w', '-o', 'OUT', 'helm.sh/helm/v3/cmd/helm'],
  },
  'e2e.test': { folder: 'clients/e2e', args: ['test', '-c', '-ldflags', '-s -w', '-o', 'OUT', '.'] },
  crossplane: {
    folder: 'clients/crossplane',
    args: ['build', '-ldflags', '-s -w', '-o', 'OUT', 'github.com/crossplane/crossplane/cmd/crossplane'],
  },
  h2spec: {
    folder: 'clients/h2spec',
    args: ['build', '-ldflags', '-s -w', '-o', 'OUT', 'github.com/summerwind/h2spec/cmd/h2spec'],
  },
  programs: { folder: 'clients/go', args: ['build', '-ldflags', '-s -w', '-o', 'OUT', '.'] },
}

/** The reason why a program is unavailable. */
export class Unavailable extends Error {}

/**
 * Returns the path of a program, and builds it if it is not in the cache. Throws `Unavailable` if it cannot be
 * built.
 */
export async function program(name: Program): Promise<string> {
  const path = binaryPath(name)
  if (existsSync(path)) return path
  await requireGo(name)
  await locked(async () => {
    if (!existsSync(path)) await build(name, path)
  })
  return path
}

/** Reports whether the program is in the cache. */
export const isBuilt = (name: Program): boolean => existsSync(binaryPath(name))

/** Returns the cache path of a program. For programs with sources in this repository, it depends on the sources. */
function binaryPath(name: Program): string {
  if (name !== 'programs') return join(cache, 'bin', name)
  const hash = createHash('sha256')
  const folder = join(recipes, builds[name].folder)
  for (const file of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, file)))
  return join(cache, 'bin', `${name}-${hash.digest('hex').slice(0, 12)}`)
}

async function requireGo(name: Program): Promise<void> {
  const found = await capture('go', ['version']).catch(() => undefined)
  if (found?.code === 0) return
  throw new Unavailable(`${name} is not in ${join(cache, 'bin')} and there is no Go to build it with`)
}

async function build(name: Program, path: string): Promise<void> {
  const { folder, args } = builds[name]
  const source = join(cache, 'src', folder)
  rmSync(source, { recursive: true, force: true })
  cpSync(join(recipes, folder), source, { recursive: true })
  mkdirSync(dirname(path), { recursive: true })
  const partial = `${path}.${process.pid}`
  process.stderr.write(`building ${name} (once, minutes the first time)\n`)
  const result = await capture(
    'go',
    args.map((arg) => (arg === 'OUT' ? partial : arg)),
    {
      cwd: source,
      env: { ...process.env, CGO_ENABLED: '0' },
    },
  )
  if (result.code !== 0) throw new Unavailable(`${name} could not be built: ${result.stderr.trim().slice(-2_000)}`)
  renameSync(partial, path)
}

/** Runs one build at a time on this machine, because builds share the Go cache and memory. */
async function locked(work: () => Promise<void>): Promise<void> {
  const lock = join(cache, 'lock')
  mkdirSync(cache, { recursive: true })
  while (!tryLock(lock)) await new Promise((resolve) => setTimeout(resolve, 500))
  const alive = setInterval(() => writeFileSync(lock, ''), 5_000)
  try {
    await work()
  } finally {
    clearInterval(alive)
    rmSync(lock, { force: true })
  }
}

function tryLock(lock: string): boolean {
  try {
    writeFileSync(lock, '', { flag: 'wx' })
    return true
  } catch {
    // The holder touches the lock regularly. A lock that is not touched belongs to a dead process.
    const touched = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (touched > 0 && Date.now() - touched > 30_000) rmSync(lock, { force: true })
    return false
  }
}
