import type { KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { column, conditionsSchema, crd, objectSchema } from '../definition/crd.js'

const group = 'aggregation.crossplane.io'
const version = 'v1alpha1'

export const aggregateType: ResourceType = {
  group,
  version,
  kind: 'AggregateResource',
  resource: 'aggregateresources',
  namespaced: false,
}

export const aggregateClassType: ResourceType = {
  group,
  version,
  kind: 'AggregateResourceClass',
  resource: 'aggregateresourceclasses',
  namespaced: false,
}

const strings = (description: string, names: readonly string[]): JSONSchemaProps => ({
  type: 'object',
  description,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})

const labelSelector = (description: string): JSONSchemaProps => ({
  type: 'object',
  description,
  properties: { matchLabels: { type: 'object', additionalProperties: { type: 'string' } } },
})

const phase: JSONSchemaProps = { type: 'string', enum: ['Unbindable', 'Unbound', 'Bound', 'Released'] }
const reclaimPolicy: JSONSchemaProps = { type: 'string', enum: ['Delete', 'Retain'] }
const reference = ['apiVersion', 'kind', 'name', 'uid']

/** The CRD of AggregateResourceClass: it aggregates classes by label (AGG1). */
export function aggregateClassCrd(): KubeObject {
  const properties: Record<string, JSONSchemaProps> = {
    aggregationRule: {
      type: 'object',
      required: ['classSelector'],
      properties: { classSelector: labelSelector('Classes of any kind with these labels are part of this one.') },
    },
    specTemplate: {
      type: 'object',
      properties: {
        reclaimPolicy: {
          ...reclaimPolicy,
          default: 'Delete',
          description:
            'What becomes of the AggregateResource when its claim goes away. Its parts have policies of their own.',
        },
        writeConnectionSecretsToNamespace: {
          type: 'string',
          description: 'Where connection Secrets of the aggregates are kept.',
        },
      },
    },
  }
  return crd(aggregateClassType, {
    alsoServed: [],
    categories: ['crossplane', 'class'],
    shortNames: [],
    schema: objectSchema('A template for groups of resources that are offered as one.', properties, [
      'aggregationRule',
    ]),
    columns: [
      column('RECLAIM-POLICY', '{.specTemplate.reclaimPolicy}'),
      { ...column('AGE', '{.metadata.creationTimestamp}'), type: 'date' },
    ],
    status: false,
  })
}

/** The CRD of AggregateResource: it aggregates managed resources by label (AGG1). */
export function aggregateCrd(): KubeObject {
  const spec: JSONSchemaProps = {
    type: 'object',
    required: ['aggregationRule'],
    properties: {
      aggregationRule: {
        type: 'object',
        required: ['resourceSelector'],
        properties: {
          resourceSelector: labelSelector('Managed resources of any kind with these labels are part of this one.'),
        },
      },
      claimRef: strings('The claim that this is bound to.', ['apiVersion', 'kind', 'namespace', 'name', 'uid']),
      classRef: strings('The class that this was provisioned by.', reference),
      writeConnectionSecretsToRef: {
        ...strings('The Secret that the connection details of all parts together are written to.', [
          'namespace',
          'name',
        ]),
        required: ['name', 'namespace'],
      },
      reclaimPolicy: { ...reclaimPolicy, description: 'What becomes of this when its claim goes away.' },
    },
  }
  const part = strings('A managed resource that is part of this.', reference)
  const status: JSONSchemaProps = {
    type: 'object',
    properties: {
      aggregatedResources: {
        type: 'array',
        items: { ...part, properties: { ...part.properties, bindingPhase: phase } },
      },
      bindingPhase: phase,
      conditions: conditionsSchema,
    },
  }
  return crd(aggregateType, {
    alsoServed: [],
    categories: ['crossplane', 'managed'],
    shortNames: [],
    schema: objectSchema('Managed resources that are offered to a claim as one.', { spec, status }, ['spec']),
    columns: [
      column('CLAIM-NAMESPACE', '{.spec.claimRef.namespace}'),
      column('CLAIM', '{.spec.claimRef.name}'),
      column('PHASE', '{.status.bindingPhase}'),
      column('READY', "{.status.conditions[?(@.type=='Ready')].status}"),
      { ...column('AGE', '{.metadata.creationTimestamp}'), type: 'date' },
    ],
    status: true,
  })
}
