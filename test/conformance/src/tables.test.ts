import type { Case } from './harness/case.js'
import { CRDS, define } from './harness/crd.js'
import type { Loose } from './harness/http.js'
import { configMap, configMapsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

/** Removes ages, which differ between runs. */
const withoutAges = (body: Loose): Loose => {
  const at = body.columnDefinitions?.map((column: Loose) => column.name).indexOf('Age') ?? -1
  if (!body.rows || at < 0) return body
  const cells = (row: Loose) =>
    row.cells.map((cell: Loose, i: number) => (i === at && /^\d+[smhd]/.test(cell) ? 'AGE' : cell))
  return { ...body, rows: body.rows.map((row: Loose) => ({ ...row, cells: cells(row) })) }
}

const columns = [
  { name: 'Str', type: 'string', jsonPath: '.spec.s', description: 'A string' },
  { name: 'Int', type: 'integer', jsonPath: '.spec.n' },
  { name: 'Num', type: 'number', jsonPath: '.spec.f', format: 'double' },
  { name: 'Bool', type: 'boolean', jsonPath: '.spec.b' },
  { name: 'Date', type: 'date', jsonPath: '.spec.d' },
  { name: 'Wide', type: 'string', jsonPath: '.spec.o', priority: 1 },
  { name: 'List', type: 'string', jsonPath: '.spec.l[*]' },
  { name: 'First', type: 'string', jsonPath: '.spec.l[0]' },
  { name: 'Cond', type: 'string', jsonPath: '.spec.c[?(@.type=="Ready")].status' },
  { name: 'Label', type: 'string', jsonPath: '.metadata.labels.app' },
  { name: 'Dotted', type: 'string', jsonPath: '.metadata.annotations.example\\.com/x' },
]

async function widgetsWithColumns(t: Case, additionalPrinterColumns: Loose[] = columns) {
  const widgets = await define(t, { version: { additionalPrinterColumns } })
  return { widgets, all: widgets.path(await t.namespace()) }
}

const values = {
  s: 'text',
  n: 5,
  f: 1.5,
  b: true,
  d: '2020-01-01T00:00:00Z',
  o: { k: 'v' },
  l: ['x', 'y'],
  c: [{ type: 'Ready', status: 'True' }],
}
/** Reduces a cell to its format, because the years since 2020 increase. */
const withoutDates = (body: Loose): Loose => {
  const aged = withoutAges(body)
  return aged.rows
    ? {
        ...aged,
        rows: aged.rows.map((row: Loose) => ({
          ...row,
          cells: row.cells.map((cell: Loose) => (/^\d+y\d*d?$/.test(String(cell)) ? 'YEARS' : cell)),
        })),
      }
    : aged
}

conformance('tables', {
  'a list of config maps': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a', { k: 'v', l: 'w' }, { labels: { mine: 'yes' } }) })
    await t.get(all, { accept: TABLE, query: { labelSelector: 'mine' }, pick: withoutAges })
    await t.get(`${all}/a`, { accept: TABLE, pick: withoutAges })
  },
  'an empty list': async (t) => {
    await t.get(configMapsIn(`no-${t.id}`), { accept: TABLE })
  },
  includeObject: async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: configMap('a', { k: 'v' }, { labels: { mine: 'yes' } }) })
    for (const includeObject of ['None', 'Metadata', 'Object', 'Nonsense', '']) {
      await t.get(`${all}/a`, {
        accept: TABLE,
        query: { includeObject },
        pick: (body) => (body.rows ? body.rows.map((row: Loose) => row.object ?? null) : body),
      })
    }
  },
  'columns of the built-in kinds': async (t) => {
    const ns = await t.namespace()
    const rbac = `/apis/rbac.authorization.k8s.io/v1`
    const paths = [
      `/api/v1/namespaces/${ns}/secrets`,
      `/api/v1/namespaces/${ns}/serviceaccounts`,
      `/api/v1/namespaces/${ns}/events`,
      `/apis/events.k8s.io/v1/namespaces/${ns}/events`,
      `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`,
      `${rbac}/namespaces/${ns}/roles`,
      `${rbac}/namespaces/${ns}/rolebindings`,
      `${rbac}/clusterroles`,
      `${rbac}/clusterrolebindings`,
      CRDS,
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
      '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
      '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
      '/api/v1/namespaces',
    ]
    for (const path of paths)
      await t.get(path, {
        accept: TABLE,
        query: { limit: 1 },
        pick: ({ columnDefinitions }) => ({ columnDefinitions }),
      })
  },
  'rows of the built-in kinds': async (t) => {
    const ns = await t.namespace()
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}`
    const cells = (body: Loose) => (body.rows ? withoutAges(body).rows.map((row: Loose) => row.cells) : body)
    await t.must('POST', `/api/v1/namespaces/${ns}/secrets`, {
      body: { metadata: { name: 'a' }, type: 'x.io/y', data: { k: 'eA==', l: 'eA==' } },
    })
    await t.get(`/api/v1/namespaces/${ns}/secrets/a`, { accept: TABLE, pick: cells })
    await t.must('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, {
      body: { metadata: { name: 'a' }, secrets: [{ name: 'x' }] },
    })
    await t.get(`/api/v1/namespaces/${ns}/serviceaccounts/a`, { accept: TABLE, pick: cells })
    await t.must('POST', `${rbac}/roles`, { body: { metadata: { name: 'a' }, rules: [] } })
    await t.get(`${rbac}/roles/a`, { accept: TABLE, pick: (body) => body.rows[0].cells.length })
    await t.must('POST', `${rbac}/rolebindings`, {
      body: {
        metadata: { name: 'a' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'Group', name: 'g' },
          { kind: 'ServiceAccount', name: 's', namespace: ns },
        ],
      },
    })
    await t.get(`${rbac}/rolebindings/a`, { accept: TABLE, pick: cells })
    await t.must('POST', `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, {
      body: { metadata: { name: 'a' }, spec: { holderIdentity: 'me' } },
    })
    await t.get(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases/a`, { accept: TABLE, pick: cells })
    await t.get(`/api/v1/namespaces/${ns}`, { accept: TABLE, pick: cells })
  },
  'custom objects: default columns': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.must('POST', all, { body: widgets.object('a') })
    await t.get(all, { accept: TABLE, pick: withoutAges })
  },
  'custom objects: additionalPrinterColumns': async (t) => {
    const { widgets, all } = await widgetsWithColumns(t)
    await t.must('POST', all, {
      body: {
        ...widgets.object('a', { spec: values }),
        metadata: { name: 'a', labels: { app: 'web' }, annotations: { 'example.com/x': 'y' } },
      },
    })
    await t.get(all, { accept: TABLE, pick: withoutDates })
  },
  'custom objects: a column that cannot be read ends the columns': async (t) => {
    const paths = ['.spec.s', '....s', '.spec.n']
    const named = paths.map((jsonPath, i) => ({ name: `C${i}`, type: 'string', jsonPath }))
    const { widgets, all } = await widgetsWithColumns(t, named)
    await t.must('POST', all, { body: widgets.object('a', { spec: values }) })
    await t.get(all, { accept: TABLE, pick: withoutDates })
  },
  'custom objects: paths that are seldom used': async (t) => {
    const paths = [
      '.spec.o',
      '.spec.f',
      '.spec.o..',
      '.spec...k',
      '.spec.l[?(@<>"x")]',
      '.spec.l[0:2:]',
      '.spec.l[0:2:-1]',
      '.spec.l[1:9:1]',
      ".spec['o.z.k']",
      ".spec['dot\\.ted']",
      ".spec['dot.ted']",
      ".spec['f', 'o.z.k']",
      '.spec.o[?(@.k)]',
    ]
    const named = paths.map((jsonPath, i) => ({ name: `C${i}`, type: 'string', jsonPath }))
    const { widgets, all } = await widgetsWithColumns(t, named)
    const odd = { o: { z: { k: 'v' }, a: '<&>' }, f: 1234567.5, l: ['x', 'y'], 'dot.ted': 't' }
    await t.must('POST', all, { body: widgets.object('a', { spec: odd }) })
    await t.get(all, { accept: TABLE, pick: (body) => body.rows?.map((row: Loose) => row.cells) ?? body })
  },
  'custom objects: missing and odd values': async (t) => {
    const { widgets, all } = await widgetsWithColumns(t)
    const cells = (body: Loose) => withoutDates(body).rows.map((row: Loose) => row.cells)
    await t.must('POST', all, { body: widgets.object('a') })
    await t.must('POST', all, {
      body: widgets.object('b', { spec: { s: 5, n: 'x', f: 'y', b: 'z', d: 'not a date', o: null, l: [] } }),
    })
    await t.must('POST', all, {
      body: widgets.object('c', {
        spec: {
          s: { a: 1 },
          n: 1.5,
          l: [1, true],
          c: [
            { type: 'Ready', status: 'False' },
            { type: 'Ready', status: 'True' },
          ],
        },
      }),
    })
    await t.get(all, { accept: TABLE, pick: cells })
  },
  'custom objects: columns change with the CRD': async (t) => {
    const { widgets, all } = await widgetsWithColumns(t, [
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ])
    await t.get(all, {
      accept: TABLE,
      pick: (body) => body.columnDefinitions.map((column: Loose) => [column.name, column.type]),
    })
    await t.must('PATCH', `${CRDS}/${widgets.crd.metadata.name}`, {
      type: 'application/json-patch+json',
      body: [
        {
          op: 'replace',
          path: '/spec/versions/0/additionalPrinterColumns',
          value: [{ name: 'Fresh', type: 'string', jsonPath: '.spec.x' }],
        },
      ],
    })
    await t.until(all, ({ body }) => body.columnDefinitions?.[1]?.name === 'Fresh', { accept: TABLE })
    await t.get(all, {
      accept: TABLE,
      pick: (body) => body.columnDefinitions.map((column: Loose) => [column.name, column.type]),
    })
  },
  PartialObjectMetadata: async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, {
      body: configMap('a', { k: 'v' }, { labels: { mine: 'yes' }, annotations: { n: 'o' } }),
    })
    await t.get(`${all}/a`, { accept: PARTIAL })
    await t.get(all, { accept: PARTIAL_LIST, query: { labelSelector: 'mine' } })
    await t.get(`${all}/a`, { accept: PARTIAL_LIST })
    await t.get(all, { accept: PARTIAL })
    await t.get(`${all}/a`, { accept: 'application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io' })
    await t.mergePatch(`${all}/a`, { data: { k: 'w' } }, { accept: PARTIAL })
    await t.delete(`${all}/a`, undefined, { accept: PARTIAL })
  },
  'custom objects: PartialObjectMetadata': async (t) => {
    const widgets = await define(t)
    const all = widgets.path(await t.namespace())
    await t.post(all, widgets.object('a', { spec: { n: 1 } }), { accept: PARTIAL })
    await t.get(`${all}/a`, { accept: PARTIAL })
    await t.get(all, { accept: PARTIAL_LIST })
  },
  'tables of writes': async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, configMap('a', { k: 'v' }), { accept: TABLE, pick: withoutAges })
    await t.delete(`${all}/a`, undefined, { accept: TABLE })
  },
  'kubectl asks for a table and takes JSON too': async (t) => {
    const all = configMapsIn(await t.namespace())
    const accept =
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'
    await t.get(all, { accept, pick: (body) => [body.kind, body.apiVersion] })
    await t.get(`${all}/none`, { accept })
    await t.get('/api/v1', { accept, pick: (body) => body.kind })
  },
})
