import type { Json, KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import { column, conditionsSchema, crd, objectSchema, referenceSchema } from './crd.js'
import { openApiOf } from './openapi.js'
import type { Fields, ObjectSchema } from './schema.js'

/** The kinds ProviderConfig and ProviderConfigUsage of one API group. */
export interface ProviderConfigKind {
  readonly type: ResourceType
  /** The type of ProviderConfigUsage. Each object records that one managed resource uses one ProviderConfig. */
  readonly usageType: ResourceType
  crd(): KubeObject
  usageCrd(): KubeObject
}

/** A ProviderConfig and its credentials. */
export interface ProviderConfiguration {
  readonly name: string
  /** Changes whenever the ProviderConfig or its credentials change. Use it as a cache key for clients. */
  readonly revision: string
  readonly spec: Readonly<Record<string, Json>>
  /**
   * The content of the credentials source. Absent for sources without content. For a Secret without a key, a JSON
   * object of all keys.
   */
  readonly credentials: string | undefined
  /** The revision of the Secret that holds the credentials. Absent for other sources. */
  readonly credentialsRevision?: string | undefined
  /** Changes to resources that use this ProviderConfig require approval. */
  readonly approval?: boolean
}

const credentialSources = ['None', 'Secret', 'Environment', 'Filesystem', 'InjectedIdentity'] as const

/**
 * Defines the ProviderConfig kind of a provider, with fields in addition to the credentials.
 *
 * @example
 * ```ts
 * import { defineProviderConfig, s } from '@crosstie/resources/provider'
 *
 * export const providerConfig = defineProviderConfig({
 *   group: 'example.org',
 *   fields: s.object({ endpoint: s.optional(s.string({ doc: 'The URL of the API.' })) }),
 * })
 * ```
 */
export function defineProviderConfig<F extends Fields>(definition: {
  readonly group: string
  readonly version?: string
  readonly fields?: ObjectSchema<F>
  /** The credentials may be a whole Secret with one key for each part, such as a connection Secret. */
  readonly wholeSecret?: boolean
  /**
   * False if the fields of the provider configure authentication. The ProviderConfig then does not have the field
   * `credentials`.
   */
  readonly credentials?: boolean
}): ProviderConfigKind {
  const { group, version = 'v1beta1', fields, wholeSecret = false, credentials = true } = definition
  const kindOf = (kind: string, resource: string): ResourceType => ({
    group,
    version,
    kind,
    resource,
    namespaced: false,
  })
  const type = kindOf('ProviderConfig', 'providerconfigs')
  const usageType = kindOf('ProviderConfigUsage', 'providerconfigusages')
  return {
    type,
    usageType,
    crd: () => {
      const own = fields ? openApiOf(fields.node, 'forProvider') : { properties: {} }
      return configCrd(type, credentials ? withCredentials(own, wholeSecret) : { type: 'object', ...own })
    },
    usageCrd: () => usageCrd(usageType),
  }
}

const text = (description: string): JSONSchemaProps => ({ type: 'string', description })

function withCredentials(own: JSONSchemaProps, wholeSecret: boolean): JSONSchemaProps {
  const credentials: JSONSchemaProps = {
    type: 'object',
    description: 'Who we are to the provider.',
    required: ['source'],
    properties: {
      source: {
        ...text(
          'Where they are: in a Secret, in the environment or a file of the controllers, with the machine or pod that they run on (InjectedIdentity), or nowhere.',
        ),
        enum: [...credentialSources],
      },
      secretRef: {
        type: 'object',
        description: 'The Secret that holds them, for source Secret.',
        required: ['name', 'namespace', ...(wholeSecret ? [] : ['key'])],
        properties: {
          name: text('Name of the Secret.'),
          namespace: text('Namespace of the Secret.'),
          key: text(`The key that holds them.${wholeSecret ? ' Absent: each key is a part of them.' : ''}`),
        },
      },
      env: {
        type: 'object',
        description: 'The variable that holds them, for source Environment.',
        required: ['name'],
        properties: { name: text('Name of the variable.') },
      },
      fs: {
        type: 'object',
        description: 'The file that holds them, for source Filesystem.',
        required: ['path'],
        properties: { path: text('Path of the file.') },
      },
    },
    'x-kubernetes-validations': [
      { rule: "self.source != 'Secret' || has(self.secretRef)", message: 'secretRef is required for source Secret' },
      { rule: "self.source != 'Environment' || has(self.env)", message: 'env is required for source Environment' },
      { rule: "self.source != 'Filesystem' || has(self.fs)", message: 'fs is required for source Filesystem' },
    ],
  }
  return {
    type: 'object',
    required: ['credentials', ...(own.required ?? [])],
    properties: { credentials, ...own.properties },
  }
}

function configCrd(type: ResourceType, spec: JSONSchemaProps): KubeObject {
  const status: JSONSchemaProps = {
    type: 'object',
    properties: {
      conditions: conditionsSchema,
      users: { type: 'integer', format: 'int64', description: 'How many managed resources use it.' },
    },
  }
  return crd(type, {
    alsoServed: [],
    categories: ['crossplane', 'provider'],
    shortNames: [],
    schema: objectSchema('How to reach the provider.', { spec, status }, ['spec']),
    columns: [{ ...column('AGE', '{.metadata.creationTimestamp}'), type: 'date' }],
    status: true,
  })
}

function usageCrd(type: ResourceType): KubeObject {
  const config = { ...referenceSchema('The ProviderConfig that is used.', ['name']), required: ['name'] }
  const resource = {
    ...referenceSchema('The managed resource that uses it.'),
    required: ['apiVersion', 'kind', 'name'],
  }
  return crd(type, {
    alsoServed: [],
    categories: ['crossplane', 'provider'],
    shortNames: [],
    schema: objectSchema(
      'Says that a managed resource uses a ProviderConfig.',
      {
        providerConfigRef: config,
        resourceRef: resource,
      },
      ['providerConfigRef', 'resourceRef'],
    ),
    columns: [
      column('CONFIG-NAME', '{.providerConfigRef.name}'),
      column('RESOURCE-KIND', '{.resourceRef.kind}'),
      column('RESOURCE-NAME', '{.resourceRef.name}'),
    ],
    status: false,
  })
}
