import type { Case } from './harness/case.js'
import { define } from './harness/crd.js'
import { configMapsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'

const modes = ['Strict', 'Warn', 'Ignore'] as const

async function widget(t: Case) {
  const widgets = await define(t, {
    properties: {
      spec: {
        type: 'object',
        properties: {
          n: { type: 'integer' },
          list: { type: 'array', items: { type: 'object', properties: { k: { type: 'string' } } } },
        },
      },
    },
  })
  const all = widgets.path(await t.namespace())
  const text = (fields: string, name = 'a') =>
    `{"apiVersion":"${widgets.group}/v1","kind":"Widget","metadata":{"name":"${name}"},${fields}}`
  return { widgets, all, text }
}

const cases: Record<string, (t: Case) => Promise<void>> = {}
for (const fieldValidation of modes) {
  const query = { fieldValidation }
  cases[`${fieldValidation}: built-in, create`] = async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, '{"metadata":{"name":"a","unknown":1},"data":{"k":"1"},"nonsense":2,"data":{"k":"2"}}', { query })
    await t.post(all, '{"metadata":{"name":"b","labels":{"x":"1","x":"2"}}}', { query })
  }
  cases[`${fieldValidation}: built-in, update and patch`] = async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.must('POST', all, { body: { metadata: { name: 'a' } } })
    await t.put(`${all}/a`, '{"metadata":{"name":"a"},"nonsense":1,"nonsense":2}', { query })
    await t.mergePatch(`${all}/a`, '{"nonsense":1,"data":{"k":"1","k":"2"}}', { query })
    await t.jsonPatch(
      `${all}/a`,
      '[{"op":"add","path":"/nonsense","value":1},{"op":"add","path":"/data","value":{"k":"1"},"value":{"k":"3"}}]',
      { query },
    )
    await t.strategicPatch(`${all}/a`, '{"nonsense":1,"data":{"k":"4","k":"5"}}', { query })
    await t.apply(
      `${all}/a`,
      'm',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  q: "1"\n  q: "2"\n',
      { query },
    )
    await t.apply(
      `${all}/a`,
      'm',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, nonsense: 1 },
      { query },
    )
  }
  cases[`${fieldValidation}: built-in, YAML`] = async (t) => {
    const all = configMapsIn(await t.namespace())
    await t.post(all, 'metadata:\n  name: a\ndata:\n  k: "1"\n  k: "2"\nnonsense: 1\n', {
      query,
      type: 'application/yaml',
    })
  }
  cases[`${fieldValidation}: custom, create`] = async (t) => {
    const { all, text } = await widget(t)
    await t.post(
      all,
      text('"spec":{"n":1,"n":2,"unknown":3,"list":[{"k":"a","x":1},{"k":"b","y":{"z":1}}]},"extra":{}'),
      { query },
    )
    await t.post(all, text('"spec":{}', 'b').replace('"name":"b"', '"name":"b","unknown":1'), { query })
  }
  cases[`${fieldValidation}: custom, update and patch`] = async (t) => {
    const { widgets, all, text } = await widget(t)
    const made = await t.must('POST', all, { body: widgets.object('a', { spec: { n: 1 } }) })
    const { resourceVersion } = made.body.metadata
    await t.put(
      `${all}/a`,
      text('"spec":{"n":2,"n":3,"unknown":1}').replace(
        '"name":"a"',
        `"name":"a","resourceVersion":"${resourceVersion}"`,
      ),
      { query },
    )
    await t.mergePatch(`${all}/a`, '{"spec":{"unknown":1,"n":4,"n":5}}', { query })
    await t.jsonPatch(`${all}/a`, [{ op: 'add', path: '/spec/unknown', value: 1 }], { query })
    await t.apply(
      `${all}/a`,
      'm',
      `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  unknown: 1\n  list:\n  - k: a\n    k: b\n`,
      { query },
    )
  }
  cases[`${fieldValidation}: custom, YAML`] = async (t) => {
    const { widgets, all } = await widget(t)
    await t.post(
      all,
      `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  size: 1\n  size: 2\n  unknown: 3\n`,
      { query, type: 'application/yaml' },
    )
  }
}

conformance('fieldvalidation', {
  ...cases,
  'the default is Warn': async (t) => {
    const { all, text } = await widget(t)
    await t.post(all, text('"spec":{"unknown":1}'))
    await t.post(configMapsIn(await t.namespace('-2')), { metadata: { name: 'a' }, nonsense: 1 })
  },
  'many faults: how many are told': async (t) => {
    const { all, text } = await widget(t)
    const fields = Array.from({ length: 15 }, (_, i) => `"u${String(i).padStart(2, '0')}":1`).join(',')
    await t.post(all, text(`"spec":{${fields}}`), { query: { fieldValidation: 'Strict' } })
  },
  'unknown fields under preserve are known': async (t) => {
    const widgets = await define(t)
    await t.post(widgets.path(await t.namespace()), widgets.object('a', { spec: { anything: { goes: 1 } } }), {
      query: { fieldValidation: 'Strict' },
    })
  },
  'embedded metadata is strict too': async (t) => {
    const embedded = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    }
    const widgets = await define(t, { properties: { spec: { type: 'object', properties: { e: embedded } } } })
    await t.post(
      widgets.path(await t.namespace()),
      widgets.object('a', { spec: { e: { apiVersion: 'v1', kind: 'X', metadata: { name: 'a', unknown: 1 } } } }),
      { query: { fieldValidation: 'Strict' } },
    )
  },
})
