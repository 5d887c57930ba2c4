/** Returns a custom resource of a typical controller, about 1 KB of JSON. */
export function widget(i) {
  return {
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: {
      name: `widget-${String(i).padStart(7, '0')}`,
      namespace: 'default',
      uid: `6a1f7c3e-0000-4000-8000-${String(i).padStart(12, '0')}`,
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'bench', shard: String(i % 16) },
      managedFields: [
        {
          manager: 'bench',
          operation: 'Update',
          apiVersion: 'example.org/v1',
          time: '2026-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:labels': { '.': {}, 'f:app': {}, 'f:shard': {} } },
            'f:spec': { '.': {}, 'f:color': {}, 'f:size': {}, 'f:parts': {} },
          },
        },
      ],
    },
    spec: {
      color: ['red', 'green', 'blue'][i % 3],
      size: i,
      parts: Array.from({ length: 5 }, (_, n) => ({ name: `part-${n}`, weight: n * i, note: 'made for measuring' })),
    },
  }
}
