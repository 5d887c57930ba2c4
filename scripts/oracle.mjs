// Builds and starts a real Kubernetes API on loopback: kube-apiserver, etcd and controller manager. The
// sources come from the Go module proxy.
//   node scripts/oracle.mjs build
//   node scripts/oracle.mjs start --kubeconfig FILE
import { spawnSync } from 'node:child_process'

const { status } = spawnSync('npx', ['tsc', '-b', 'test/conformance'], {
  cwd: new URL('..', import.meta.url),
  stdio: ['ignore', 2, 2],
})
if (status !== 0) process.exit(1)
const { main } = await import('../test/conformance/dist/oracle/main.js')
await main(process.argv.slice(2))
