import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child } from './children.js'

const script = fileURLToPath(new URL('../../../scripts/oracle.mjs', import.meta.url))

/** A real kube-apiserver, or why there is none here. */
export interface RealKubernetes extends AsyncDisposable {
  readonly kubeconfig: string
}

/** On a new machine its programs are built first. */
const PATIENCE_MS = 840_000

export async function startRealKubernetes(): Promise<RealKubernetes | string> {
  const kubeconfig = join(tmpdir(), `crosstie-end-to-end-${process.pid}.kubeconfig`)
  const child = new Child(process.execPath, [script, 'start', '--kubeconfig', kubeconfig])
  if (!(await child.says(/^ready: /m, PATIENCE_MS))) {
    return child.errors.trim().split('\n').at(-1) || 'the real Kubernetes API did not start'
  }
  return {
    kubeconfig,
    async [Symbol.asyncDispose]() {
      await child.stop()
      await rm(kubeconfig, { force: true })
    },
  }
}
