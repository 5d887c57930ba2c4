import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileJsonPath, JsonPathError } from './jsonpath.js'

const document = {
  metadata: { name: 'a', labels: { 'x.y/z': '1' } },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False' },
    ],
    ports: [80, 443, 8080],
    __proto__: undefined,
  },
}

const cases: Record<string, { path: string; want: unknown[]; because: string }> = {
  Field: { path: '.metadata.name', want: ['a'], because: 'dots select fields' },
  Quoted: { path: ".metadata.labels['x\\.y/z']", want: ['1'], because: 'a quoted name' },
  QuotedPath: { path: ".['metadata.name']", want: ['a'], because: 'quotes do not escape dots' },
  Escaped: { path: '.metadata.labels.x\\.y/z', want: ['1'], because: 'a backslash escapes a dot' },
  Missing: { path: '.spec.nothing', want: [], because: 'a missing field is not an error' },
  Inherited: { path: '.metadata.constructor', want: [], because: 'inherited properties are ignored' },
  Filter: {
    path: ".status.conditions[?(@.type=='Ready')].status",
    want: ['True'],
    because: 'a filter, as in printer columns',
  },
  FilterDouble: { path: '.status.conditions[?(@.type=="Synced")].status', want: ['False'], because: 'either quote' },
  FilterNumber: { path: '.status.ports[?(@ > 100)]', want: [443, 8080], because: 'numbers compare' },
  Index: { path: '.status.ports[0]', want: [80], because: 'an index from the start' },
  Negative: { path: '.status.ports[-1]', want: [8080], because: 'an index from the end' },
  Slice: { path: '.status.ports[1:]', want: [443, 8080], because: 'a range' },
  Star: { path: '.status.conditions[*].type', want: ['Ready', 'Synced'], because: 'all items' },
  Union: { path: '.status.ports[0,2]', want: [80, 8080], because: 'several' },
  FilterUnknown: { path: '.status.ports[?(@<>80)]', want: [], because: 'an unknown operator matches nothing' },
  RecursiveEnd: {
    path: '.metadata.labels..',
    want: [{ 'x.y/z': '1' }, '1'],
    because: 'recursive descent includes the value itself',
  },
  RecursiveDot: { path: '...type', want: ['Ready', 'Synced'], because: 'an additional dot selects a field' },
  Recursive: { path: '..type', want: ['Ready', 'Synced'], because: 'anywhere below' },
}

for (const [name, { path, want, because }] of Object.entries(cases)) {
  test(name, () => assert.deepEqual(compileJsonPath(path)(document), want, because))
}

for (const path of ['.a[', '.a[?(@.x', '.a[x y]', '.a["b"]', '.a....b']) {
  test(`refuses ${path}`, () => assert.throws(() => compileJsonPath(path), JsonPathError))
}
