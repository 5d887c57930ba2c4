import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child } from './children.js'

const script = fileURLToPath(new URL('../../../../scripts/oracle.mjs', import.meta.url))

/** A real kube-apiserver. */
export interface RealKubernetes extends AsyncDisposable {
  readonly kubeconfig: string
  /** Kills kube-apiserver and restarts it. Resolves when it is ready. */
  restart(): Promise<void>
}

/** Includes the time to build the programs on a new machine. */
const PATIENCE_MS = 840_000

/** Starts a real kube-apiserver, or returns the reason why it is unavailable. */
export async function startRealKubernetes(): Promise<RealKubernetes | string> {
  const kubeconfig = join(tmpdir(), `crosstie-end-to-end-${process.pid}.kubeconfig`)
  const child = new Child(process.execPath, [script, 'start', '--kubeconfig', kubeconfig])
  if (!(await child.says(/^ready: /m, PATIENCE_MS))) {
    return child.errors.trim().split('\n').at(-1) || 'the real Kubernetes API did not start'
  }
  return {
    kubeconfig,
    async restart() {
      const since = child.output.length
      child.signal('SIGUSR2')
      await child.says(/^restarted: /m, PATIENCE_MS, since)
    },
    async [Symbol.asyncDispose]() {
      await child.stop()
      await rm(kubeconfig, { force: true })
    },
  }
}
