import {
  type Attack,
  COUNT,
  list,
  MAPS,
  many,
  map,
  nested,
  owner,
  SECRETS,
  THINGS,
  tenant,
  thing,
  yaml,
} from './attack.js'

/** Attacks by metadata. */
export const metadataAttacks: Readonly<Record<string, Attack>> = {
  'annotations beyond their limit': {
    ...tenant,
    path: MAPS,
    body: () => map({ name: 'a1', annotations: many(COUNT, (i) => [`a${i}`, 'v']) }),
    status: 422,
    message: /metadata\.annotations: Too long: may not be more than 262144 bytes/,
  },
  'annotations with bad keys': {
    ...tenant,
    path: MAPS,
    body: () => map({ name: 'a2', annotations: many(COUNT, (i) => [`a ${i}`, 'v']) }),
    status: 422,
  },
  'labels with bad keys and values': {
    ...tenant,
    path: MAPS,
    body: () => map({ name: 'a3', labels: many(COUNT, (i) => [`a ${i}`, '-v ']) }),
    status: 422,
  },
  labels: {
    ...tenant,
    path: MAPS,
    body: () => map({ name: 'a4', labels: many(COUNT, (i) => [`a${i}`, 'v']) }),
    status: 201,
  },
  finalizers: {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'a6', finalizers: list(COUNT, (i) => `x.io/a${i}`) }),
    status: 201,
  },
  'finalizers with bad names': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'a7', finalizers: list(COUNT, (i) => `a ${i}`) }),
    status: 422,
  },
  'controllers that are each reported with all': {
    ...tenant,
    path: MAPS,
    body: () => map({ name: 'a8', ownerReferences: list(11_500, (i) => ({ ...owner(i), controller: true })) }),
    status: 422,
  },
  'owner references': {
    ...tenant,
    path: MAPS,
    body: () => map({ name: 'a9', ownerReferences: list(14_000, owner) }),
    status: 201,
  },
  'managedFields of many fields': {
    ...tenant,
    path: MAPS,
    body: () =>
      map({
        name: 'a10',
        managedFields: [
          {
            manager: 'm',
            operation: 'Update',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': many(COUNT, (i) => [`f:a${i}`, {}]) },
          },
        ],
      }),
    status: 201,
  },
}

/** Attacks by fields of objects. */
export const fieldAttacks: Readonly<Record<string, Attack>> = {
  'unknown fields of a custom resource, warned about': {
    ...tenant,
    path: THINGS,
    body: () =>
      thing(
        { name: 'b1' },
        many(COUNT, (i) => [`f${i}`, 1]),
      ),
    status: 201,
  },
  'unknown fields of a custom resource, refused': {
    ...tenant,
    path: `${THINGS}?fieldValidation=Strict`,
    body: () =>
      thing(
        { name: 'b2' },
        many(COUNT, (i) => [`f${i}`, 1]),
      ),
    status: 400,
    message: /strict decoding error: unknown field \\+"spec.f0/,
  },
  'unknown fields of a built-in kind': {
    ...tenant,
    path: MAPS,
    body: () => ({ ...map({ name: 'b3' }), ...many(COUNT, (i) => [`f${i}`, 1]) }),
    status: 201,
  },
  'duplicate fields': {
    ...tenant,
    path: MAPS,
    body: () =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b4"},"data":{${list(COUNT, () => '"a":"b"').join()}}}`,
    status: 201,
  },
  'more fields than a body may have': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b5' }, { any: many(230_000, (i) => [`${i}`, 1]) }),
    status: 413,
    upstream: 201,
  },
  'fields that are kept': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b6' }, { any: many(COUNT, (i) => [`f${i}`, 1]) }),
    status: 201,
  },
  'keys of a ConfigMap': {
    ...tenant,
    path: MAPS,
    body: () => map({ name: 'b7' }, { data: many(COUNT, (i) => [`a${i}`, 'v']) }),
    status: 201,
  },
  'a set in the wrong order': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b8' }, { set: list(60_000, (i) => `k${60_000 - i}`) }),
    status: 201,
  },
  'a large set': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b9' }, { set: list(99_000, (i) => i.toString(36)) }),
    status: 201,
  },
  'a large set of one value': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b10' }, { set: list(99_000, () => 'a') }),
    status: 422,
  },
  'a large list map': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b11' }, { keyed: list(COUNT, (i) => ({ k: `k${i}` })) }),
    status: 201,
  },
  'a large list map of one key': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b12' }, { keyed: list(COUNT, () => ({ k: 'a' })) }),
    status: 422,
  },
  'a list of more values than a body may have': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b13' }, { any: { list: list(700_000, () => 1) } }),
    status: 413,
    upstream: 201,
  },
  'a list of empty objects': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b14' }, { any: { list: list(99_000, () => ({})) } }),
    status: 201,
  },
  'values of the wrong type': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b15' }, { set: list(99_000, () => 1) }),
    status: 422,
  },
  'numbers of 16 digits': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b16' }, { any: { list: list(80_000, () => 1234567890123456) } }),
    status: 201,
  },
  'one number of 2.5 million digits': {
    ...tenant,
    path: THINGS,
    body: () => JSON.stringify(thing({ name: 'b17' }, { any: { n: 0.5 } })).replace('0.5', '1'.repeat(2_500_000)),
    status: 400,
  },
  'one exponent of 2.5 million digits': {
    ...tenant,
    path: THINGS,
    body: () =>
      JSON.stringify(thing({ name: 'b18' }, { any: { n: 0.5 } })).replace('0.5', `1e${'1'.repeat(2_500_000)}`),
    status: 400,
  },
  'arrays that nest 900 deep': {
    ...tenant,
    path: THINGS,
    body: () => JSON.stringify(thing({ name: 'b19' }, { any: { n: 0.5 } })).replace('0.5', nested(900, '[', ']')),
    status: 201,
  },
  'objects that nest 900 deep': {
    ...tenant,
    path: THINGS,
    body: () =>
      JSON.stringify(thing({ name: 'b20' }, { any: { n: 0.5 } })).replace(
        '0.5',
        `${'{"a":'.repeat(900)}1${'}'.repeat(900)}`,
      ),
    status: 201,
  },
  'arrays that nest 1,000,000 deep': {
    ...tenant,
    path: THINGS,
    body: () => JSON.stringify(thing({ name: 'b21' }, { any: { n: 0.5 } })).replace('0.5', nested(1_000_000, '[', ']')),
    status: 400,
  },
  'a string of 2.9 MB of escapes': {
    ...tenant,
    path: MAPS,
    body: () =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b22"},"data":{"a":"${'\\n'.repeat(1_400_000)}"}}`,
    status: 422,
  },
  'a string of escaped surrogates': {
    ...tenant,
    path: MAPS,
    body: () =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b23"},"data":{"a":"${'\\ud83d\\ude00'.repeat(200_000)}"}}`,
    status: 201,
  },
  'a field name of 2 MB': {
    ...tenant,
    path: `${THINGS}?fieldValidation=Strict`,
    body: () => thing({ name: 'b24' }, { ['x'.repeat(2_000_000)]: 1 }),
    status: 400,
  },
  'a Secret whose data is 1 MB of base64': {
    ...tenant,
    path: SECRETS,
    body: () => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b25' }, data: { a: 'QUFB'.repeat(250_000) } }),
    status: 201,
  },
  'a pattern that backtracks': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b26' }, { pattern: `${'a'.repeat(200_000)}!` }),
    status: 422,
  },
  'strings for a CEL rule': {
    ...tenant,
    path: THINGS,
    body: () => thing({ name: 'b27' }, { ruled: list(100, () => 'x'.repeat(1_000)) }),
    status: 201,
  },
}

/** Attacks by YAML. */
export const yamlAttacks: Readonly<Record<string, Attack>> = {
  'aliases of an anchor in YAML': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () =>
      yaml('c1', `    b: &b [${list(1_000, () => '1').join()}]\n    y: [${list(30_000, () => '*b').join()}]\n`),
    status: 400,
  },
  'aliases far from a small anchor in YAML': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () => yaml('c2', `    b: &b {}\n    y: [${list(90_000, () => '*b').join()}]\n`),
    status: 201,
  },
  'YAML in short lines': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () => yaml('c3', list(COUNT, (i) => `    f${i}: 1\n`).join('')),
    status: 201,
  },
  'YAML in one flow sequence': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () => yaml('c4', `    y: [${list(99_000, () => '1').join()}]\n`),
    status: 201,
  },
  'YAML with 45,000 anchors': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () => yaml('c5', list(45_000, (i) => `    f${i}: &a${i} {}\n`).join('')),
    status: 201,
  },
  'YAML with duplicate keys': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () => yaml('c6', list(COUNT, () => '    f: 1\n').join('')),
    status: 201,
  },
  'YAML that is almost JSON': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () => `${JSON.stringify(thing({ name: 'c7' }, { any: many(COUNT, (i) => [`f${i}`, 1]) })).slice(0, -1)},}`,
    status: 201,
  },
  'YAML of 2.9 MB of comments': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () => `${'# a\n'.repeat(700_000)}${yaml('c8', '    a: 1\n')}`,
    status: 413,
    upstream: 201,
  },
  'YAML of 900 KB of document marks': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () => '---\n# a\n'.repeat(110_000) + yaml('c9', '    a: 1\n'),
    status: 400,
  },
  'YAML of merge keys': {
    ...tenant,
    path: THINGS,
    type: 'application/yaml',
    body: () =>
      yaml(
        'c10',
        `    b: &b {${list(100, (i) => `k${i}: 1`).join()}}\n    y: [${list(2_000, () => '{<<: *b}').join()}]\n`,
      ),
    status: 400,
  },
}
