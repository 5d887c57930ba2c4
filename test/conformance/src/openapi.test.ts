import type { Case } from './harness/case.js'
import { CRDS, define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { conformance } from './harness/suite.js'

const properties = {
  spec: {
    type: 'object',
    description: 'What is wanted.',
    required: ['n'],
    properties: {
      n: { type: 'integer', minimum: 1, default: 3, description: 'A number.' },
      io: { 'x-kubernetes-int-or-string': true },
      l: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      nil: { type: 'string', nullable: true },
      e: { type: 'string', enum: ['a', 'b'] },
      o: {
        type: 'object',
        oneOf: [{ required: ['x'] }, { required: ['y'] }],
        properties: { x: { type: 'string' }, y: { type: 'string' } },
      },
    },
  },
}
const version = {
  subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
  selectableFields: [{ jsonPath: '.spec.e' }],
}
/** Returns the definition name of the real server, which reverses the labels of the group. */
const definitionName = (group: string, kind: string) => `${group.split('.').reverse().join('.')}.v1.${kind}`
const verbs = (path: Loose) =>
  Object.keys(path)
    .filter((each) => each !== 'parameters')
    .sort()

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const sharedKinds = ['DeleteOptions', 'ListMeta', 'ObjectMeta', 'Patch', 'Status', 'WatchEvent']
/** Returns the shared kinds of a document, each with the given groups that its schema lists. */
const shared = (schemas: Loose, ...groups: string[]) =>
  Object.fromEntries(
    sharedKinds.map((kind) => {
      const schema = schemas[`${META}${kind}`]
      const kinds: Loose[] = schema?.['x-kubernetes-group-version-kind'] ?? []
      return [kind, schema ? groups.filter((group) => kinds.some((each) => each.group === group)) : 'absent']
    }),
  )

/** Returns the operations of paths that contain the words, and where their parameters are defined. */
function operations(paths: Loose, words: string): Loose {
  const names = (parameters: Loose[] | undefined) => parameters?.map(({ name }) => name).sort() ?? []
  const shown = (path: Loose) => ({
    parameters: names(path.parameters),
    ...Object.fromEntries(
      verbs(path).map((verb) => [
        verb,
        {
          id: path[verb].operationId,
          tags: path[verb].tags,
          parameters: names(path[verb].parameters),
          body: 'requestBody' in path[verb],
          answers: Object.keys(path[verb].responses),
        },
      ]),
    ),
  })
  const wanted = Object.keys(paths).filter((path) => path.includes(words) && !path.includes('/watch/'))
  return Object.fromEntries(wanted.sort().map((path) => [path, shown(paths[path])]))
}

/** Reads the index, which is JSON regardless of its content type. */
const index = async (t: Case): Promise<Loose> => JSON.parse((await t.must('GET', '/openapi/v3')).text)

conformance('openapi', {
  'v3: the index has a hashed address for every group version': async (t) => {
    const body = await index(t)
    const paths = [
      'api/v1',
      'apis/rbac.authorization.k8s.io/v1',
      'apis/coordination.k8s.io/v1',
      'apis/apiextensions.k8s.io/v1',
    ]
    t.see(
      'index',
      Object.fromEntries(
        paths.map((path) => [path, body.paths[path]?.serverRelativeURL.replace(/[0-9A-F]{20,}/, 'HASH') ?? 'absent']),
      ),
    )
  },
  'v3: a document by its hash may be kept': async (t) => {
    const body = await index(t)
    const url = body.paths['api/v1'].serverRelativeURL
    const { status, headers } = await t.quiet('GET', url)
    t.see('immutable', {
      status,
      cache: headers['cache-control'],
      etag: typeof headers['etag'],
      type: headers['content-type'],
      vary: headers['vary'],
    })
    const plain = await t.quiet('GET', '/openapi/v3/apis/coordination.k8s.io/v1')
    t.see('by path', {
      status: plain.status,
      openapi: plain.body.openapi,
      title: plain.body.info.title,
      cache: plain.headers['cache-control'] ?? null,
    })
    const again = await t.quiet('GET', '/openapi/v3/apis/coordination.k8s.io/v1', {
      headers: { 'if-none-match': String(plain.headers['etag']) },
    })
    t.see('again', again.status)
    const wrong = await t.quiet('GET', '/openapi/v3/apis/coordination.k8s.io/v1?hash=ABC')
    t.see('another hash', {
      status: wrong.status,
      location: String(wrong.headers['location']).replace(/[0-9A-F]{20,}/, 'HASH'),
    })
    await t.get('/openapi/v3/apis/none.example.com/v1')
  },
  'v3: paths and schemas of a built-in kind': async (t) => {
    const { body } = await t.must('GET', '/openapi/v3/apis/coordination.k8s.io/v1')
    t.see(
      'paths',
      Object.keys(body.paths)
        .filter((path) => path.includes('leases') && !path.includes('/watch/'))
        .sort(),
    )
    t.see('verbs', verbs(body.paths['/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}']))
    const lease = body.components.schemas['io.k8s.api.coordination.v1.Lease']
    t.see('lease', {
      gvk: lease['x-kubernetes-group-version-kind'],
      properties: Object.keys(lease.properties).sort(),
      type: lease.type,
    })
    const spec = body.components.schemas['io.k8s.api.coordination.v1.LeaseSpec'].properties
    t.see(
      'spec',
      Object.fromEntries(
        Object.entries(spec).map(([name, schema]: [string, Loose]) => [
          name,
          schema.type ?? schema.$ref ?? schema.allOf,
        ]),
      ),
    )
  },
  'v3: a CRD has its document': async (t) => {
    const widgets = await define(t, { properties, version })
    const path = `/openapi/v3/apis/${widgets.group}/v1`
    const { body } = await t.until(path, ({ status }) => status === 200)
    t.see('schema', body.components.schemas[definitionName(widgets.group, 'Widget')]?.properties.spec)
    t.see('gvk', body.components.schemas[definitionName(widgets.group, 'Widget')]?.['x-kubernetes-group-version-kind'])
    t.see(
      'list',
      body.components.schemas[definitionName(widgets.group, 'WidgetList')]?.['x-kubernetes-group-version-kind'],
    )
    t.see('paths', Object.fromEntries(Object.entries(body.paths).map(([name, each]) => [name, verbs(each)])))
    const operation = body.paths[`/apis/${widgets.group}/v1/namespaces/{namespace}/widgets/{name}`].patch
    t.see('patch', {
      action: operation['x-kubernetes-action'],
      gvk: operation['x-kubernetes-group-version-kind'],
      content: Object.keys(operation.requestBody.content).sort(),
    })
    const list = body.paths[`/apis/${widgets.group}/v1/namespaces/{namespace}/widgets`].get
    t.see('list parameters', list.parameters.map((each: Loose) => each.name).sort())
    t.see(
      'selectable',
      list['x-kubernetes-selectable-fields'] ??
        body.components.schemas[definitionName(widgets.group, 'Widget')]?.['x-kubernetes-selectable-fields'] ??
        null,
    )
  },
  'v3: the kinds that all groups share are there when an operation needs them, and belong to built-in groups': async (
    t,
  ) => {
    for (const group of ['coordination.k8s.io', 'authorization.k8s.io', 'apiextensions.k8s.io']) {
      const { body } = await t.quiet('GET', `/openapi/v3/apis/${group}/v1`)
      t.see(group, shared(body.components.schemas, '', 'rbac.authorization.k8s.io', group))
    }
    const widgets = await define(t, { properties, version })
    const { body } = await t.until(`/openapi/v3/apis/${widgets.group}/v1`, ({ status }) => status === 200)
    t.see('custom', shared(body.components.schemas, '', 'rbac.authorization.k8s.io', widgets.group))
    t.see(
      'models',
      Object.keys(body.components.schemas)
        .filter((name) => name.startsWith('io.k8s.'))
        .sort(),
    )
  },
  'v3: a CRD document is no document of built-in kinds': async (t) => {
    const widgets = await define(t, { properties, version, group: `9a${t.id}.with-dash.9x.example.com` })
    const { body } = await t.until(`/openapi/v3/apis/${widgets.group}/v1`, ({ status }) => status === 200)
    t.see('info', body.info)
    t.see('parts', Object.keys(body.components).sort())
    t.see('schemas', Object.keys(body.components.schemas).sort())
    const { items, metadata } = body.components.schemas[definitionName(widgets.group, 'WidgetList')].properties
    t.see('list', { items: items.items, metadata: { ...metadata, description: 'TEXT' } })
    t.see('operations', operations(body.paths, ''))
  },
  'v3: operations of built-in kinds': async (t) => {
    const { body } = await t.must('GET', '/openapi/v3/api/v1')
    t.see('service accounts', operations(body.paths, '/serviceaccounts'))
    t.see('finalize', operations(body.paths, '/finalize'))
    const leases = await t.must('GET', '/openapi/v3/apis/coordination.k8s.io/v1')
    t.see('leases', operations(leases.body.paths, '/leases'))
    const version = await t.must('GET', '/openapi/v3/version')
    t.see('version', version.body.info)
  },
  'v3: a CRD document changes with it, and goes with it': async (t) => {
    const widgets = await define(t, { properties })
    const path = `/openapi/v3/apis/${widgets.group}/v1`
    const name = definitionName(widgets.group, 'Widget')
    await t.until(path, ({ status }) => status === 200)
    await t.must('PATCH', `${CRDS}/${widgets.crd.metadata.name}`, {
      type: 'application/json-patch+json',
      body: [
        { op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/extra', value: { type: 'string' } },
      ],
    })
    await t.until(path, ({ body }) => body.components?.schemas?.[name]?.properties.extra !== undefined)
    await t.must('DELETE', `${CRDS}/${widgets.crd.metadata.name}`)
    await t.until(path, ({ status }) => status === 404)
    await t.until('/openapi/v3', ({ text }) => !text.includes(widgets.group))
    t.see('gone', true)
  },
  'v2: a document with definitions and an ETag': async (t) => {
    const first = await t.quiet('GET', '/openapi/v2')
    t.see('head', {
      status: first.status,
      type: first.headers['content-type'],
      etag: typeof first.headers['etag'],
      swagger: first.body.swagger,
      title: first.body.info.title,
    })
    // Other cases change the document continuously, so one match of the ETag suffices.
    let known = first
    for (let tries = 0; tries < 50 && known.status === 200; tries++) {
      known = await t.quiet('GET', '/openapi/v2', { headers: { 'if-none-match': String(known.headers['etag']) } })
    }
    t.see('again', known.status)
    t.see('config map', {
      gvk: first.body.definitions['io.k8s.api.core.v1.ConfigMap']['x-kubernetes-group-version-kind'],
      properties: Object.keys(first.body.definitions['io.k8s.api.core.v1.ConfigMap'].properties).sort(),
    })
  },
  'v2: kubectl asks for protobuf': async (t) => {
    const { status, headers, bytes } = await t.quiet('GET', '/openapi/v2', {
      accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    })
    t.see('head', { status, type: headers['content-type'], some: bytes.length > 1000 })
  },
  'v2: a CRD is in it, without what v2 cannot say': async (t) => {
    const widgets = await define(t, { properties, version })
    const name = definitionName(widgets.group, 'Widget')
    const { body } = await t.until('/openapi/v2', (answer) => answer.body.definitions?.[name] !== undefined)
    t.see('spec', body.definitions[name].properties.spec)
    t.see('gvk', body.definitions[name]['x-kubernetes-group-version-kind'])
    t.see('top', Object.keys(body.definitions[name].properties).sort())
    t.see(
      'paths',
      Object.keys(body.paths)
        .filter((path) => path.includes(widgets.group))
        .sort(),
    )
    t.see('shared', shared(body.definitions, '', 'rbac.authorization.k8s.io', widgets.group))
    const groups = body.definitions[`${META}DeleteOptions`]['x-kubernetes-group-version-kind'].map(
      (each: Loose) => each.group,
    )
    t.see('in order', groups.join() === groups.toSorted().join())
    await t.must('DELETE', `${CRDS}/${widgets.crd.metadata.name}`)
    await t.until('/openapi/v2', (answer) => answer.body.definitions?.[name] === undefined)
  },
})
