import type { Condition, KubeObject, ObjectMeta, ResourceType } from '@crosstie/kube'

const GROUP = 'terraform.crosstie.io'

/** Objects of this kind name a Terraform provider, and the resource types that become kinds. */
export const terraformProviderType: ResourceType = {
  group: GROUP,
  version: 'v1alpha1',
  kind: 'TerraformProvider',
  resource: 'terraformproviders',
  namespaced: false,
}

export interface ProviderSpec {
  readonly source: string
  readonly version?: string
  readonly kinds?: readonly string[]
}

export interface ProviderStatus {
  readonly conditions?: readonly Condition[]
  readonly version?: string
  readonly checksum?: string
  readonly availableKinds?: readonly string[]
  readonly activeKinds?: readonly string[]
  readonly namespace?: string
  readonly processes?: number
  readonly memory?: string
}

/** An object as the server gives it. */
export interface TerraformProvider extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string }
  readonly spec: ProviderSpec
  readonly status?: ProviderStatus
}

const text = (description: string) => ({ type: 'string', description })
const texts = (description: string) => ({ type: 'array', description, items: { type: 'string' } })
const column = (name: string, jsonPath: string, type = 'string') => ({ name, jsonPath, type })

const spec = {
  type: 'object',
  description: 'The desired provider and its kinds.',
  required: ['source'],
  properties: {
    source: {
      ...text('Where the provider comes from, as in Terraform: hashicorp/random, or tf.example.org/acme/thing.'),
      minLength: 1,
      maxLength: 255,
      'x-kubernetes-validations': [
        {
          rule: 'self == oldSelf',
          message: 'the source of a provider cannot change: create another TerraformProvider',
        },
      ],
    },
    version: {
      ...text(
        'Which versions are allowed, in the constraint syntax of Terraform: "~> 3.6". The version that was installed first stays until the constraint excludes it. Absent: the newest version.',
      ),
      maxLength: 255,
    },
    kinds: {
      ...texts(
        'Resource types that become kinds, as names or patterns: random_pet, random_*. Data sources are named with data.: data.http. Without any, no kind is active.',
      ),
      items: { type: 'string', minLength: 1, maxLength: 253 },
      maxItems: 2000,
      'x-kubernetes-list-type': 'set',
    },
  },
}

const status = {
  type: 'object',
  description: 'The observed state.',
  properties: {
    conditions: {
      type: 'array',
      description: 'Whether the provider is installed, and whether its kinds are served.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status', 'reason', 'lastTransitionTime'],
        properties: {
          type: text('The type of the condition, such as Ready.'),
          status: text('True, False or Unknown.'),
          reason: text('The reason in one word, for programs.'),
          message: text('The details, for people.'),
          lastTransitionTime: { ...text('The time at which the status last changed.'), format: 'date-time' },
          observedGeneration: {
            type: 'integer',
            format: 'int64',
            description: 'The metadata.generation that the condition is about.',
          },
        },
      },
    },
    version: text('The version that is installed.'),
    checksum: text('The checksum of the installed package, as in the lock file of Terraform.'),
    availableKinds: texts('All types that the provider has.'),
    activeKinds: texts('The types that are served as kinds.'),
    namespace: text('The namespace in which the state of the resources is kept, in Secrets.'),
    processes: { type: 'integer', description: 'Processes of the provider that run now, in the process that reports.' },
    memory: text('The memory that these processes use.'),
  },
}

/** The CustomResourceDefinition of TerraformProvider. */
export const terraformProviderCrd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${terraformProviderType.resource}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: {
      kind: terraformProviderType.kind,
      listKind: `${terraformProviderType.kind}List`,
      plural: terraformProviderType.resource,
      singular: 'terraformprovider',
      categories: ['crossplane', 'provider', 'terraform'],
    },
    versions: [
      {
        name: terraformProviderType.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          column('SOURCE', '.spec.source'),
          column('VERSION', '.status.version'),
          column('READY', ".status.conditions[?(@.type=='Ready')].status"),
          column('MESSAGE', ".status.conditions[?(@.type=='Ready')].message"),
          column('AGE', '.metadata.creationTimestamp', 'date'),
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A Terraform provider whose resource types are served as managed kinds.',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              metadata: { type: 'object' },
              spec,
              status,
            },
            'x-kubernetes-validations': [
              {
                rule: "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$')",
                message:
                  'metadata.name becomes part of an API group: use at most 42 lowercase letters, digits and dashes',
              },
            ],
          },
        },
      },
    ],
  },
}
