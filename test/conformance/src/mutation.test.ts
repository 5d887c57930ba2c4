import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Case } from './harness/case.js'
import { CRDS, definition } from './harness/crd.js'
import type { Answer, Loose } from './harness/http.js'
import { Pair } from './harness/pair.js'

/**
 * Sends manifests with random faults to both servers. Rejections and their reasons must be equal, and with
 * DIFFERENTIAL_WORDS=1 the messages too. Seeds and runs are set as in the differential tests.
 */
const words = process.env['DIFFERENTIAL_WORDS'] === '1'
const numRuns = Number(process.env['DIFFERENTIAL_RUNS'] ?? 8)
const seed = process.env['DIFFERENTIAL_SEED'] ? Number(process.env['DIFFERENTIAL_SEED']) : undefined

const rbac = 'rbac.authorization.k8s.io'
const registration = 'admissionregistration.k8s.io'
const hook = {
  name: 'hook.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/x' },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['nothings'], operations: ['CREATE'], scope: '*' }],
  namespaceSelector: { matchLabels: { none: 'none' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  timeoutSeconds: 3,
  failurePolicy: 'Ignore',
  matchConditions: [{ name: 'c', expression: 'true' }],
}

interface Kind {
  readonly path: (t: Case, namespace: string) => string
  readonly manifest: (t: Case, namespace: string) => Loose
}
const metadata = { name: 'a', labels: { l: 'x' }, annotations: { n: 'y' }, finalizers: ['x.io/f'] }
const core = (plural: string, manifest: Loose): Kind => ({
  path: (_, ns) => `/api/v1/namespaces/${ns}/${plural}`,
  manifest: () => ({ apiVersion: 'v1', metadata, ...manifest }),
})
const inGroup = (group: string, plural: string, manifest: Loose, namespaced = true): Kind => ({
  path: (_, ns) => `/apis/${group}/v1/${namespaced ? `namespaces/${ns}/` : ''}${plural}`,
  manifest: (t) => ({
    apiVersion: `${group}/v1`,
    metadata: namespaced ? metadata : { name: `a-${t.id}` },
    ...manifest,
  }),
})

const kinds: Record<string, Kind> = {
  ConfigMap: core('configmaps', { kind: 'ConfigMap', data: { k: 'v' }, binaryData: { b: 'eA==' }, immutable: false }),
  Secret: core('secrets', {
    kind: 'Secret',
    data: { k: 'eA==' },
    stringData: { s: 't' },
    type: 'Opaque',
    immutable: false,
  }),
  ServiceAccount: core('serviceaccounts', {
    kind: 'ServiceAccount',
    secrets: [{ name: 's' }],
    imagePullSecrets: [{ name: 'p' }],
    automountServiceAccountToken: true,
  }),
  Namespace: {
    path: () => '/api/v1/namespaces',
    manifest: (t) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: `n-${t.id}`, labels: { l: 'x' } },
      spec: { finalizers: ['kubernetes'] },
    }),
  },
  Lease: inGroup('coordination.k8s.io', 'leases', {
    kind: 'Lease',
    spec: {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      renewTime: '2020-01-01T00:00:00.000000Z',
      leaseTransitions: 1,
    },
  }),
  Role: inGroup(rbac, 'roles', {
    kind: 'Role',
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: ['x'] }],
  }),
  ClusterRole: inGroup(
    rbac,
    'clusterroles',
    {
      kind: 'ClusterRole',
      rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    },
    false,
  ),
  RoleBinding: inGroup(rbac, 'rolebindings', {
    kind: 'RoleBinding',
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', apiGroup: rbac, name: 'u' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    ],
  }),
  ValidatingWebhookConfiguration: inGroup(
    registration,
    'validatingwebhookconfigurations',
    { kind: 'ValidatingWebhookConfiguration', webhooks: [hook] },
    false,
  ),
  MutatingWebhookConfiguration: inGroup(
    registration,
    'mutatingwebhookconfigurations',
    { kind: 'MutatingWebhookConfiguration', webhooks: [{ ...hook, reinvocationPolicy: 'Never' }] },
    false,
  ),
  ValidatingAdmissionPolicyBinding: inGroup(
    registration,
    'validatingadmissionpolicybindings',
    {
      kind: 'ValidatingAdmissionPolicyBinding',
      spec: { policyName: 'p', validationActions: ['Deny'], paramRef: { name: 'x', parameterNotFoundAction: 'Allow' } },
    },
    false,
  ),
  Event: {
    path: (_, ns) => `/api/v1/namespaces/${ns}/events`,
    manifest: (_, ns) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'a' },
      involvedObject: { kind: 'X', namespace: ns, name: 'x' },
      reason: 'R',
      type: 'Normal',
      count: 1,
      firstTimestamp: '2020-01-01T00:00:00Z',
    }),
  },
  CustomResourceDefinition: {
    path: () => CRDS,
    manifest: (t) =>
      definition(t, {
        names: { shortNames: ['wd'], categories: ['all'] },
        properties: {
          spec: {
            type: 'object',
            required: ['n'],
            properties: {
              n: { type: 'integer', minimum: 1, default: 2 },
              l: {
                type: 'array',
                items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['k'],
              },
              m: { type: 'object', additionalProperties: { type: 'string' } },
            },
          },
        },
        version: {
          subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
          additionalPrinterColumns: [{ name: 'N', type: 'integer', jsonPath: '.spec.n' }],
        },
      }).crd,
  },
}

const odd = fc.constantFrom<Loose>(
  null,
  '',
  'x',
  'Bad Name',
  5,
  -1,
  1.5,
  true,
  [],
  {},
  ['x'],
  [null],
  { x: 1 },
  'v'.repeat(64),
  [{}],
  '2020-01-01T00:00:00Z',
)
/** A fault: a number selects a place in the manifest where a value is removed, replaced or added. */
const fault = fc.record({
  at: fc.nat(1_000),
  how: fc.constantFrom('remove', 'replace', 'replace', 'replace', 'add'),
  value: odd,
})

const inWords = ({ status, body, headers }: Answer): Loose => ({
  status,
  warning: headers['warning'] ?? null,
  ...(status < 300 ? {} : { reason: body.reason, message: body.message, causes: body.details?.causes }),
})

function withFault(manifest: Loose, { at, how, value }: { at: number; how: string; value: Loose }): Loose {
  const copy = structuredClone(manifest)
  const places: { parent: Loose; key: string | number }[] = []
  const visit = (node: Loose) => {
    if (node === null || typeof node !== 'object') return
    for (const key of Array.isArray(node) ? node.keys() : Object.keys(node)) {
      places.push({ parent: node, key })
      visit(node[key])
    }
  }
  visit(copy)
  const { parent, key } = places[at % places.length]!
  if (how === 'remove') Array.isArray(parent) ? parent.splice(key as number, 1) : delete parent[key]
  else if (how === 'replace') parent[key] = value
  else if (Array.isArray(parent)) parent.push(value)
  else parent.unknown = value
  return copy
}

describe('manifests with random faults, on the embedded server and on the real one', {
  skip: process.env['CONFORMANCE_TARGET'] !== undefined,
}, () => {
  let pair: Pair | string
  before(async () => {
    pair = await Pair.open()
  })
  after(async () => {
    if (typeof pair !== 'string') await pair?.close()
  })

  for (const [kind, { path, manifest }] of Object.entries(kinds)) {
    test(kind, async (context) => {
      if (typeof pair === 'string') return context.skip(pair)
      const both = pair
      const many = fc.array(fc.array(fault, { minLength: 1, maxLength: 2 }), { minLength: 12, maxLength: 12 })
      const send = async (t: Case, all: readonly Loose[]) => {
        const ns = await t.namespace()
        for (const faults of all) {
          const body = faults.reduce(withFault, manifest(t, ns))
          const answer = await t.quiet('POST', path(t, ns), { query: { dryRun: 'All' }, body })
          t.see(
            JSON.stringify(body),
            words
              ? inWords(answer)
              : { status: answer.status, reason: answer.status < 300 ? null : answer.body.reason },
          )
        }
      }
      await fc.assert(
        fc.asyncProperty(many, (all) => both.same((t) => send(t, all))),
        { numRuns, seed, includeErrorInReport: true, endOnFailure: true },
      )
    })
  }
})
