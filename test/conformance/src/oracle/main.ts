import { once } from 'node:events'
import { type Program, program, Unavailable } from './binaries.js'
import { startOracle } from './oracle.js'

const usage = `usage: node scripts/oracle.mjs COMMAND
  build [PROGRAM...]          build kube-apiserver, etcd, the controller manager, kubectl and helm into the cache
  start [--kubeconfig FILE]   start them on loopback, print 'ready:' and the kubeconfig, stop on SIGINT or SIGTERM;
                              SIGUSR2 kills kube-apiserver, starts it again and prints 'restarted:'`

/** Runs the commands of scripts/oracle.mjs. */
export async function main(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args
  try {
    if (command === 'build') await build(rest as Program[])
    else if (command === 'start') await serve(rest)
    else throw new Error(usage)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    console.error(error instanceof Unavailable ? `no real Kubernetes API here: ${error.message}` : error.message)
    process.exitCode = 1
  }
}

async function build(names: readonly Program[]): Promise<void> {
  const all: readonly Program[] = ['etcd', 'kubectl', 'kube-apiserver', 'kube-controller-manager', 'helm']
  for (const name of names.length > 0 ? names : all) console.log(`${name}: ${await program(name)}`)
}

async function serve(args: readonly string[]): Promise<void> {
  const kubeconfig = args[0] === '--kubeconfig' ? args[1] : undefined
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  const oracle = await startOracle({ kubeconfig })
  console.log(`ready: ${oracle.url} kubeconfig ${oracle.kubeconfig}`)
  process.on('SIGUSR2', () => {
    void oracle.restart().then(() => console.log(`restarted: ${oracle.url}`))
  })
  await stopped
  await oracle.stop()
}
