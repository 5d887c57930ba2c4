// The two compared servers, started alike and loaded by the same program.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildLoadgen, startProgram, stopProgram } from '../programs.mjs'
import { processTree } from './processes.mjs'

const root = new URL('../..', import.meta.url).pathname
const crosstie = join(root, 'apps/crosstie/bin/crosstie.js')

/** The command of each server, and the processes that count. */
const kinds = {
  embedded: {
    command: (folder) => [crosstie, 'up', '--providers', 'nop', '--listen', '127.0.0.1:0', '--data-dir', folder],
    counts: () => true,
  },
  kubernetes: {
    command: () => [join(root, 'scripts/oracle.mjs'), 'start'],
    // The controller manager is not part of the comparison.
    counts: (program) => program === 'kube-apiserver' || program === 'etcd',
  },
}

/** The names of the servers. */
export const SERVERS = Object.keys(kinds)

const loadgen = buildLoadgen()

/** Starts a server on new data. Its processes are determined on first use, so that the start is not delayed. */
export async function startServer(name) {
  const { command, counts } = kinds[name]
  const folder = mkdtempSync(join(tmpdir(), `bench-${name}-`))
  const kubeconfig = join(folder, 'kubeconfig')
  const started = performance.now()
  const args = [...command(join(folder, 'data')), '--kubeconfig', kubeconfig]
  let program
  const stop = async () => {
    if (program) await stopProgram(program)
    rmSync(folder, { recursive: true, force: true })
  }
  const begun = (child) => {
    program = child
  }
  try {
    await startProgram(args, /^ready:/m, { begun })
  } catch (error) {
    await stop()
    throw error
  }
  const counted = () => processTree(program.pid).filter((one) => counts(one.name))
  let pids
  return {
    name,
    kubeconfig,
    started,
    stop,
    get pids() {
      pids ??= counted().map(({ pid }) => pid)
      return pids
    },
  }
}

/** Applies the CRDs of the benchmark. */
export function applyDefinitions({ kubeconfig }) {
  const manifests = ['nopresource-crd.yaml', 'small-crd.yaml'].map((file) =>
    join(root, 'bench/loadgen/manifests', file),
  )
  execFileSync(loadgen, ['apply', '--kubeconfig', kubeconfig, ...manifests], { stdio: 'ignore' })
}

/** Measures the API alone: a row for each step and number of clients. Creates `n` objects first. */
export function w6({ kubeconfig, pids }, { n, duration }, args) {
  const named = pids.map((pid, i) => `p${i}=${pid}`).join(',')
  const common = ['--kubeconfig', kubeconfig, '--n', String(n), '--duration', duration, '--pids', named]
  const text = execFileSync(loadgen, ['w6', ...common, ...args], { encoding: 'utf8', maxBuffer: 1 << 26 })
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Creates objects that stay. */
export function populate(server, n) {
  w6(server, { n, duration: '1ms' }, ['--steps', 'create', '--levels', '64', '--keep'])
}
