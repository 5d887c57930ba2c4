import type { Case } from './harness/case.js'
import { CRDS, define, definition, established, hasCondition, register } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

const schema = { openAPIV3Schema: { type: 'object' } }
const version = (name: string, more: object = {}) => ({ name, served: true, storage: name === 'v1', schema, ...more })

/** Sends manifests that must be rejected. An accepted one is deleted. */
async function refuse(t: Case, changes: readonly ((crd: Loose) => void)[]): Promise<void> {
  for (const change of changes) {
    const { crd } = definition(t)
    change(crd)
    const answer = await t.post(CRDS, crd)
    if (answer.status !== 201) continue
    const path = `${CRDS}/${answer.body.metadata.name}`
    await t.must('DELETE', path)
    await t.until(path, ({ status }) => status === 404)
  }
}

const conditions = (crd: Loose) => ({
  conditions: crd.status.conditions.map(({ lastTransitionTime: _, ...rest }: Loose) => rest),
  acceptedNames: crd.status.acceptedNames,
})

conformance('registration', {
  'create fills in names, conversion and status': async (t) => {
    const widgets = definition(t)
    await t.post(CRDS, widgets.crd, {
      pick: ({ status, ...rest }) => ({ ...rest, status: { storedVersions: status.storedVersions } }),
    })
    t.cleanup(() => t.quiet('DELETE', `${CRDS}/${widgets.crd.metadata.name}`))
    await established(t, widgets)
    await t.get(`${CRDS}/${widgets.crd.metadata.name}`)
  },
  'a CRD in a group of built-in kinds is established and not served': async (t) => {
    for (const group of ['rbac.authorization.k8s.io', 'coordination.k8s.io', 'networking.k8s.io']) {
      const metadata = {
        annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' },
      }
      // A unique version: the real server shows the version of a CRD in the discovery of the group.
      const versions = [version('v9', { storage: true })]
      const plural = `x${t.id}`
      const made = definition(t, {
        scope: 'Cluster',
        group,
        plural,
        kind: `X${t.id}`,
        metadata: { name: `${plural}.${group}`, ...metadata },
        versions,
      })
      const path = `${CRDS}/${made.crd.metadata.name}`
      await t.must('POST', CRDS, { body: made.crd })
      t.cleanup(() => t.quiet('DELETE', path))
      // Another controller of the real server sets the second condition, sometimes later.
      const { body } = await t.until(
        path,
        ({ body }) =>
          hasCondition(body, 'Established', 'True') &&
          hasCondition(body, 'KubernetesAPIApprovalPolicyConformant', 'True'),
      )
      t.see(
        `conditions in ${group}`,
        conditions(body)
          .conditions.map(({ type, status, reason }: Loose) => [type, status, reason])
          .sort(),
      )
      await t.get(made.path())
      await t.post(made.path(), made.object('a'))
      await t.must('DELETE', path)
      await t.until(path, ({ status }) => status === 404)
    }
  },
  'names given are kept': async (t) => {
    const widgets = await define(t, {
      names: { singular: 'gizmo', listKind: 'GizmoList', shortNames: ['gz'], categories: ['all'] },
    })
    await t.get(`${CRDS}/${widgets.crd.metadata.name}`, {
      pick: ({ spec, status }) => ({ names: spec.names, accepted: status.acceptedNames }),
    })
    await t.get(widgets.path())
  },
  'metadata.name must be plural.group': async (t) => {
    await refuse(t, [
      (crd) => {
        crd.metadata.name = `other.${crd.spec.group}`
      },
      (crd) => {
        crd.metadata.name = 'widgets'
      },
      (crd) => {
        crd.metadata.name = 'BAD NAME'
      },
    ])
  },
  'group, names and scope are checked': async (t) => {
    await refuse(t, [
      (crd) => {
        crd.spec.group = 'BAD'
      },
      (crd) => {
        crd.spec.group = ''
      },
      (crd) => {
        crd.spec.group = 'nodots'
        crd.metadata.name = 'widgets.nodots'
      },
      (crd) => {
        crd.spec.names.plural = 'Widgets'
      },
      (crd) => {
        crd.spec.names.plural = ''
      },
      (crd) => {
        crd.spec.names.kind = ''
      },
      (crd) => {
        crd.spec.names.kind = 'bad kind'
      },
      (crd) => {
        crd.spec.names.kind = 'Same'
        crd.spec.names.listKind = 'Same'
      },
      (crd) => {
        crd.spec.names.singular = 'Bad_Singular'
      },
      (crd) => {
        crd.spec.names.shortNames = ['Bad Short']
      },
      (crd) => {
        crd.spec.names.categories = ['Bad Category']
      },
      (crd) => {
        crd.spec.scope = 'Galaxy'
      },
      (crd) => {
        crd.spec.scope = ''
      },
      (crd) => {
        delete crd.spec.names
      },
      (crd) => {
        delete crd.spec
      },
    ])
  },
  'versions are checked': async (t) => {
    await refuse(t, [
      (crd) => {
        crd.spec.versions = []
      },
      (crd) => {
        crd.spec.versions = [version('v1', { storage: false })]
      },
      (crd) => {
        crd.spec.versions = [version('v1'), version('v2', { storage: true })]
      },
      (crd) => {
        crd.spec.versions = [version('v1'), version('v1')]
      },
      (crd) => {
        crd.spec.versions = [version('Bad Version', { storage: true })]
      },
      (crd) => {
        crd.spec.versions = [version('v1', { served: false }), version('v2', { served: false })]
      },
      (crd) => {
        crd.spec.versions = [version('v1', { schema: undefined })]
      },
      (crd) => {
        crd.spec.versions = [version('v1', { schema: {} })]
      },
      (crd) => {
        crd.spec.versions = [version('v1', { deprecationWarning: 'old' })]
      },
      (crd) => {
        crd.spec.versions = [version('v1', { deprecated: true, deprecationWarning: '' })]
      },
      (crd) => {
        crd.spec.versions = [version('v1', { deprecated: true, deprecationWarning: 'x'.repeat(257) })]
      },
    ])
  },
  'conversion is checked': async (t) => {
    const webhook = { clientConfig: { url: 'https://127.0.0.1/convert' }, conversionReviewVersions: ['v1'] }
    await refuse(t, [
      (crd) => {
        crd.spec.conversion = { strategy: 'Magic' }
      },
      (crd) => {
        crd.spec.conversion = { strategy: '' }
      },
      (crd) => {
        crd.spec.conversion = { strategy: 'None', webhook }
      },
      (crd) => {
        crd.spec.conversion = { strategy: 'Webhook' }
      },
      (crd) => {
        crd.spec.conversion = { strategy: 'Webhook', webhook: { ...webhook, conversionReviewVersions: [] } }
      },
      (crd) => {
        crd.spec.conversion = { strategy: 'Webhook', webhook: { ...webhook, conversionReviewVersions: ['v0'] } }
      },
      (crd) => {
        crd.spec.conversion = { strategy: 'Webhook', webhook: { ...webhook, clientConfig: {} } }
      },
      (crd) => {
        crd.spec.conversion = {
          strategy: 'Webhook',
          webhook: { ...webhook, clientConfig: { url: 'http://127.0.0.1/x' } },
        }
      },
      (crd) => {
        crd.spec.conversion = {
          strategy: 'Webhook',
          webhook: { ...webhook, clientConfig: { url: 'https://127.0.0.1/x', service: { namespace: 'a', name: 'b' } } },
        }
      },
      (crd) => {
        crd.spec.conversion = {
          strategy: 'Webhook',
          webhook: { ...webhook, clientConfig: { service: { namespace: '', name: '', port: 70000, path: 'x//y' } } },
        }
      },
      (crd) => {
        crd.spec.conversion = { strategy: 'Webhook', webhook }
        crd.spec.preserveUnknownFields = true
      },
    ])
  },
  'preserveUnknownFields: true is refused': async (t) => {
    await refuse(t, [
      (crd) => {
        crd.spec.preserveUnknownFields = true
      },
    ])
  },
  'printer columns and selectable fields are checked': async (t) => {
    const column = { name: 'N', type: 'integer', jsonPath: '.spec.n' }
    const selectable =
      (...jsonPaths: string[]) =>
      (crd: Loose) => {
        crd.spec.versions[0].schema.openAPIV3Schema = {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: {
                s: { type: 'string' },
                list: { type: 'array', items: { type: 'string' } },
                o: { type: 'object' },
              },
            },
          },
        }
        crd.spec.versions[0].selectableFields = jsonPaths.map((jsonPath) => ({ jsonPath }))
      }
    await refuse(t, [
      (crd) => {
        crd.spec.versions[0].additionalPrinterColumns = [{ ...column, name: '' }]
      },
      (crd) => {
        crd.spec.versions[0].additionalPrinterColumns = [{ ...column, type: 'nonsense' }]
      },
      (crd) => {
        crd.spec.versions[0].additionalPrinterColumns = [{ ...column, type: '' }]
      },
      (crd) => {
        crd.spec.versions[0].additionalPrinterColumns = [{ ...column, format: 'nonsense' }]
      },
      (crd) => {
        crd.spec.versions[0].additionalPrinterColumns = [{ ...column, jsonPath: '' }]
      },
      (crd) => {
        crd.spec.versions[0].additionalPrinterColumns = [{ ...column, jsonPath: '[[' }]
      },
      selectable('.spec.none'),
      selectable('.spec.list'),
      selectable('.spec.o'),
      selectable('.spec.s', '.spec.s'),
      selectable('spec.s'),
      selectable(''),
      selectable('.metadata.name'),
      selectable(...Array.from({ length: 9 }, () => '.spec.s')),
    ])
  },
  'subresources are checked': async (t) => {
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
    const withScale = (change: object) => (crd: Loose) => {
      crd.spec.versions[0].subresources = { scale: { ...scale, ...change } }
    }
    await refuse(t, [
      withScale({ specReplicasPath: '' }),
      withScale({ specReplicasPath: '.status.replicas' }),
      withScale({ statusReplicasPath: '' }),
      withScale({ statusReplicasPath: '.spec.replicas' }),
      withScale({ labelSelectorPath: '.metadata.labels' }),
      withScale({ specReplicasPath: 'spec[0]' }),
    ])
  },
  'groups of Kubernetes need approval': async (t) => {
    const group = `${t.id}.k8s.io`
    const crd = (annotations?: Record<string, string>) => definition(t, { group, metadata: { annotations } }).crd
    const key = 'api-approved.kubernetes.io'
    await t.post(CRDS, crd())
    await t.post(CRDS, crd({ [key]: 'nonsense' }))
    for (const value of ['unapproved, testing', 'https://github.com/kubernetes/kubernetes/pull/1']) {
      const made = await t.must('POST', CRDS, { body: crd({ [key]: value }) })
      const now = await t.until(`${CRDS}/${made.body.metadata.name}`, ({ body }) =>
        body.status.conditions?.some((each: Loose) => each.type === 'KubernetesAPIApprovalPolicyConformant'),
      )
      t.see(
        value,
        now.body.status.conditions.find((each: Loose) => each.type === 'KubernetesAPIApprovalPolicyConformant'),
      )
      await t.must('DELETE', `${CRDS}/${made.body.metadata.name}`)
      await t.until(`${CRDS}/${made.body.metadata.name}`, ({ status }) => status === 404)
    }
  },
  'names taken by another CRD of the group are not accepted': async (t) => {
    const first = await define(t, {
      plural: 'firsts',
      kind: 'First',
      names: { singular: 'one', shortNames: ['f1'], listKind: 'FirstList' },
    })
    const cases: Record<string, object> = {
      kind: { kind: 'First', listKind: 'OtherList' },
      listKind: { kind: 'Second', listKind: 'FirstList' },
      singular: { kind: 'Second', singular: 'one' },
      short: { kind: 'Second', shortNames: ['ok', 'f1'] },
      shortIsPlural: { kind: 'Second', shortNames: ['firsts'] },
    }
    for (const [what, names] of Object.entries(cases)) {
      const second = definition(t, { group: first.group, plural: 'seconds', names })
      await t.must('POST', CRDS, { body: second.crd })
      const name = second.crd.metadata.name
      const now = await t.until(`${CRDS}/${name}`, ({ body }) => hasCondition(body, 'NamesAccepted', 'False'))
      t.see(what, conditions(now.body))
      await t.get(second.path())
      await t.must('DELETE', `${CRDS}/${name}`)
      await t.until(`${CRDS}/${name}`, ({ status }) => status === 404)
    }
  },
  'names are accepted once the other CRD is gone': async (t) => {
    const first = await define(t, { plural: 'firsts', kind: 'Same' })
    const second = definition(t, { group: first.group, plural: 'seconds', kind: 'Same' })
    await t.must('POST', CRDS, { body: second.crd })
    t.cleanup(() => t.quiet('DELETE', `${CRDS}/${second.crd.metadata.name}`))
    await t.until(`${CRDS}/${second.crd.metadata.name}`, ({ body }) => hasCondition(body, 'NamesAccepted', 'False'))
    await t.must('DELETE', `${CRDS}/${first.crd.metadata.name}`)
    await established(t, second)
    await t.get(`${CRDS}/${second.crd.metadata.name}`, { pick: conditions })
  },
  'the same kind in two groups': async (t) => {
    const one = await define(t)
    const two = await define(t, { group: `other-${t.id}.example.com` })
    const ns = await t.namespace()
    await t.post(one.path(ns), one.object('a', { spec: { n: 1 } }))
    await t.post(two.path(ns), two.object('a', { spec: { n: 2 } }))
    await t.get(one.path(ns), { pick: (body) => body.items.map((item: Loose) => item.spec.n) })
  },
  'two CRDs of one group': async (t) => {
    const one = await define(t)
    const two = await define(t, { plural: 'gadgets', kind: 'Gadget' })
    await t.must('DELETE', `${CRDS}/${one.crd.metadata.name}`)
    await t.until(one.path(), ({ status }) => status === 404)
    await t.until(`/apis/${one.group}/v1`, ({ body }) => body.resources?.length === 1)
    await t.get(two.path())
    await t.get(`/apis/${one.group}/v1`, { pick: (body) => body.resources.map((each: Loose) => each.name) })
  },
  'what cannot be changed': async (t) => {
    const widgets = await define(t)
    const one = `${CRDS}/${widgets.crd.metadata.name}`
    await t.mergePatch(one, { spec: { scope: 'Cluster' } })
    await t.mergePatch(one, { spec: { group: 'other.example.com' } })
    await t.mergePatch(one, { spec: { names: { plural: 'others' } } })
    await t.mergePatch(one, { spec: { names: { kind: 'Other' } } })
    await t.jsonPatch(one, [{ op: 'replace', path: '/spec/versions/0/name', value: 'v2' }])
    await t.mergePatch(
      one,
      { metadata: { labels: { a: 'b' } } },
      { pick: (body) => [body.metadata.labels, body.metadata.generation] },
    )
  },
  'short names can be changed': async (t) => {
    const widgets = await define(t)
    const one = `${CRDS}/${widgets.crd.metadata.name}`
    await t.must('PATCH', one, {
      type: 'application/merge-patch+json',
      body: { spec: { names: { shortNames: ['wd'] } } },
    })
    const now = await t.until(one, ({ body }) => body.status.acceptedNames.shortNames?.length === 1)
    t.see('accepted', now.body.status.acceptedNames)
    const listed = await t.until(
      `/apis/${widgets.group}/v1`,
      ({ body }) => body.resources?.[0]?.shortNames?.length === 1,
    )
    t.see('discovered', listed.body.resources[0].shortNames)
  },
  'storedVersions grow and hold versions': async (t) => {
    const widgets = await define(t, { versions: [version('v1'), version('v2')] })
    const one = `${CRDS}/${widgets.crd.metadata.name}`
    await t.get(one, { pick: (body) => body.status.storedVersions })
    const switched = [version('v1', { storage: false }), version('v2', { storage: true })]
    await t.mergePatch(one, { spec: { versions: switched } }, { pick: (body) => body.status.storedVersions })
    await t.mergePatch(one, { spec: { versions: [switched[1]] } })
    await t.mergePatch(`${one}/status`, { status: { storedVersions: [] } })
    await t.mergePatch(`${one}/status`, { status: { storedVersions: ['v9'] } })
    await t.mergePatch(
      `${one}/status`,
      { status: { storedVersions: ['v2'] } },
      { pick: (body) => body.status.storedVersions },
    )
    await t.mergePatch(one, { spec: { versions: [switched[1]] } }, { pick: (body) => body.spec.versions.length })
  },
  'delete removes the objects first': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    const one = `${CRDS}/${widgets.crd.metadata.name}`
    await t.must('POST', all, { body: { ...widgets.object('a'), metadata: { name: 'a', finalizers: ['x.io/hold'] } } })
    await t.must('POST', all, { body: widgets.object('b') })
    const gone = await t.must('DELETE', one)
    t.see('answer', {
      finalizers: gone.body.metadata.finalizers,
      deleting: Boolean(gone.body.metadata.deletionTimestamp),
    })
    const now = await t.until(one, ({ body }) => hasCondition(body, 'Terminating', 'True'))
    t.see('terminating', hasCondition(now.body, 'Terminating', 'True'))
    await t.until(`${all}/b`, ({ status }) => status === 404)
    await t.post(all, widgets.object('c'))
    await t.get(`${all}/a`, { pick: (body) => Boolean(body.metadata?.deletionTimestamp) })
    await t.mergePatch(`${all}/a`, { metadata: { finalizers: null } }, { pick: (body) => body.kind })
    await t.until(one, ({ status }) => status === 404)
    await t.until(all, ({ status }) => status === 404)
  },
  'deleted and made again: new schema, no old objects': async (t) => {
    const first = definition(t, { properties: { spec: { type: 'object', properties: { old: { type: 'string' } } } } })
    const second = definition(t, { properties: { spec: { type: 'object', properties: { new: { type: 'string' } } } } })
    const ns = await t.namespace()
    await register(t, first)
    await t.post(first.path(ns), first.object('a', { spec: { old: 'x', new: 'y' } }), { pick: (body) => body.spec })
    await t.must('DELETE', `${CRDS}/${first.crd.metadata.name}`)
    await t.until(`${CRDS}/${first.crd.metadata.name}`, ({ status }) => status === 404)
    await t.until(first.path(), ({ status }) => status === 404)
    await register(t, second)
    await t.get(second.path(ns), { pick: (body) => body.items })
    await t.post(second.path(ns), second.object('a', { spec: { old: 'x', new: 'y' } }), { pick: (body) => body.spec })
  },
  'status is a subresource of CRDs': async (t) => {
    const widgets = definition(t)
    await t.post(
      CRDS,
      { ...widgets.crd, status: { storedVersions: ['v7'], conditions: [{ type: 'X', status: 'True' }] } },
      { query: { dryRun: 'All' }, pick: (body) => body.status.storedVersions },
    )
    await t.get(`${CRDS}/${widgets.crd.metadata.name}/status`)
  },
  'list and fields of CRDs': async (t) => {
    const widgets = await define(t)
    await t.get(CRDS, {
      query: { fieldSelector: `metadata.name=${widgets.crd.metadata.name}` },
      pick: (body) => [body.kind, body.items.length],
    })
    await t.get(CRDS, { query: { fieldSelector: 'spec.group=x' } })
    await t.put(`${CRDS}/${widgets.crd.metadata.name}`, widgets.crd)
  },
})
