import type { KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import {
  column,
  conditionsSchema,
  controlFields,
  crd,
  type KindShape,
  objectSchema,
  observedGenerationSchema,
  pluralOf,
} from './crd.js'
import { openApiOf } from './openapi.js'
import type { Node } from './schema.js'

/** The default limit of a query. */
export const QUERY_LIMIT = 100
/** The maximum limit of a query. */
export const QUERY_LIMIT_MAX = 1_000

/** A kind whose objects find external resources of a managed kind (OBS4). */
export interface QueryKind {
  readonly type: ResourceType
  crd(): KubeObject
}

/** Returns the query kind of a managed kind. */
export function queryKindOf(shape: KindShape): QueryKind {
  const kind = `${shape.type.kind}Query`
  const type = { ...shape.type, kind, resource: pluralOf(kind), namespaced: false }
  return { type, crd: () => queryCrd(shape, type) }
}

/** Returns the fields that state the location of external resources, such as a region. */
export function identifiersOf(parameters: Node): Readonly<Record<string, Node>> {
  return Object.fromEntries(Object.entries(parameters.fields ?? {}).filter(([, field]) => field.identifier))
}

const strings: JSONSchemaProps = { type: 'object', additionalProperties: { type: 'string' } }

function queryCrd(shape: KindShape, type: ResourceType): KubeObject {
  const { kind } = shape.type
  return crd(type, {
    alsoServed: shape.alsoServed,
    categories: ['crossplane', 'query'],
    shortNames: [],
    schema: objectSchema(
      `Finds what exists of ${kind} and owns one ${kind} for each, which is only ever observed.`,
      { spec: specSchema(shape), status: statusSchema(kind) },
      ['spec'],
    ),
    columns: [
      { ...column('MATCHES', '{.status.count}'), type: 'integer' },
      { ...column('TRUNCATED', '{.status.truncated}'), type: 'boolean' },
      column('SYNCED', "{.status.conditions[?(@.type=='Synced')].status}"),
      { ...column('AGE', '{.metadata.creationTimestamp}'), type: 'date' },
    ],
    status: true,
  })
}

function specSchema({ type: { kind }, parameters }: KindShape): JSONSchemaProps {
  // A query covers one location, so identifiers are plain values. No object exists yet that a reference could name.
  const places = Object.entries(identifiersOf(parameters)).map(([name, { reference: _, ...field }]) => [name, field])
  const forProvider = openApiOf({ ...parameters, fields: Object.fromEntries(places) }, 'forProvider')
  return {
    type: 'object',
    ...(places.length > 0 ? { required: ['forProvider'] } : {}),
    properties: {
      forProvider: { ...forProvider, description: 'Where to look.' },
      providerConfigRef: controlFields['providerConfigRef']!,
      filter: {
        type: 'object',
        description: `Which of what is there. All that is said must hold; nothing said matches every ${kind}.`,
        properties: {
          matchFields: {
            ...strings,
            description:
              'Paths below atProvider, such as tags.team, or externalName, and what each must be. * stands for any text.',
          },
          expression: {
            type: 'string',
            maxLength: 4096,
            description: 'CEL over atProvider and externalName that must be true, such as atProvider.size > 10.',
          },
        },
      },
      limit: {
        type: 'integer',
        format: 'int32',
        minimum: 1,
        maximum: QUERY_LIMIT_MAX,
        default: QUERY_LIMIT,
        description: 'How many are owned at most: the first by external name.',
      },
      refreshInterval: {
        type: 'string',
        pattern: '^([0-9]+(\\.[0-9]+)?(s|m|h))+$',
        default: '1m',
        description: 'How often to look again, such as 30s or 1h. A second at least.',
      },
      template: {
        type: 'object',
        description: `What each ${kind} carries beside.`,
        properties: {
          metadata: {
            type: 'object',
            description: 'Its labels and annotations.',
            properties: {
              labels: { ...strings, description: 'Labels, for references and selectors to find them by.' },
              annotations: { ...strings, description: 'Annotations.' },
            },
          },
        },
      },
    },
  }
}

function statusSchema(kind: string): JSONSchemaProps {
  return {
    type: 'object',
    properties: {
      count: { type: 'integer', format: 'int64', description: 'How many match.' },
      truncated: { type: 'boolean', description: 'More match than the limit allows to own.' },
      matches: {
        type: 'array',
        description: 'What is owned.',
        items: {
          type: 'object',
          required: ['externalName', 'name'],
          properties: {
            externalName: { type: 'string', description: 'How the provider calls it.' },
            name: { type: 'string', description: `The ${kind} that shows it.` },
          },
        },
      },
      conditions: conditionsSchema,
      observedGeneration: observedGenerationSchema,
    },
  }
}
