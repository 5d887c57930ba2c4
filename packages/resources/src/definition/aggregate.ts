import type { KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import {
  bindingPhaseSchema,
  column,
  conditionsSchema,
  crd,
  labelSelectorSchema,
  objectSchema,
  referenceSchema,
} from './crd.js'

const group = 'aggregation.crossplane.io'
const version = 'v1alpha1'

/** The type of AggregateResource. */
export const aggregateType: ResourceType = {
  group,
  version,
  kind: 'AggregateResource',
  resource: 'aggregateresources',
  namespaced: false,
}

/** The type of AggregateResourceClass. */
export const aggregateClassType: ResourceType = {
  group,
  version,
  kind: 'AggregateResourceClass',
  resource: 'aggregateresourceclasses',
  namespaced: false,
}

const reclaimPolicy: JSONSchemaProps = { type: 'string', enum: ['Delete', 'Retain'] }

/** Returns the CRD of AggregateResourceClass, which aggregates classes by label (AGG1). */
export function aggregateClassCrd(): KubeObject {
  const properties: Record<string, JSONSchemaProps> = {
    aggregationRule: {
      type: 'object',
      description: 'Which classes are part of this one.',
      required: ['classSelector'],
      properties: { classSelector: labelSelectorSchema('Classes of any kind with these labels are part of this one.') },
    },
    specTemplate: {
      type: 'object',
      description: 'The spec of each AggregateResource that is made from it.',
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

/** Returns the CRD of AggregateResource, which aggregates managed resources by label (AGG1). */
export function aggregateCrd(): KubeObject {
  const spec: JSONSchemaProps = {
    type: 'object',
    required: ['aggregationRule'],
    properties: {
      aggregationRule: {
        type: 'object',
        description: 'Which managed resources are part of this one.',
        required: ['resourceSelector'],
        properties: {
          resourceSelector: labelSelectorSchema(
            'Managed resources of any kind with these labels are part of this one.',
          ),
        },
      },
      claimRef: referenceSchema('The claim that this is bound to.', ['apiVersion', 'kind', 'namespace', 'name', 'uid']),
      classRef: referenceSchema('The class that this was provisioned by.'),
      writeConnectionSecretsToRef: {
        ...referenceSchema('The Secret that the connection details of all parts together are written to.', [
          'namespace',
          'name',
        ]),
        required: ['name', 'namespace'],
      },
      reclaimPolicy: { ...reclaimPolicy, description: 'What becomes of this when its claim goes away.' },
    },
  }
  const member = referenceSchema('A managed resource that is part of this.')
  const status: JSONSchemaProps = {
    type: 'object',
    properties: {
      aggregatedResources: {
        type: 'array',
        description: 'The managed resources that are part of this, and how far each is bound.',
        items: { ...member, properties: { ...member.properties, bindingPhase: bindingPhaseSchema } },
      },
      bindingPhase: bindingPhaseSchema,
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
