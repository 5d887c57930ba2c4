import type { Case } from './harness/case.js'
import { Command } from './harness/command.js'
import { define } from './harness/crd.js'
import { conformance } from './harness/suite.js'

/** Runs one of the Go programs to its end; every line that it prints is something that works. */
async function go(t: Case, program: string, group: string): Promise<void> {
  const ns = await t.namespace()
  const { code, stdout, stderr } = await new Command(t, 'clients').quiet([program, ns, group])
  t.see(program, { code, works: stdout.trim().split('\n') })
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${stdout}${stderr.slice(-1_500)}`)
}

conformance(
  'clients',
  {
    'client-go: protobuf, informers, dynamic client, apply, discovery, scale, election': async (t) => {
      const group = `go-${t.id}.example.com`
      t.cleanup(() => t.quiet('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.${group}`))
      await go(t, 'client-go', group)
    },
    'controller-runtime: a reconciler with leader election, finalizer, status, events': async (t) => {
      const properties = {
        spec: { type: 'object', properties: { size: { type: 'integer' } } },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      }
      const gizmos = await define(t, {
        plural: 'gizmos',
        kind: 'Gizmo',
        properties,
        version: { subresources: { status: {} } },
      })
      await t.until('/apis', ({ text }) => text.includes(gizmos.group))
      await go(t, 'controller-runtime', gizmos.group)
    },
  },
  { needs: ['clients'], concurrency: 2 },
)
