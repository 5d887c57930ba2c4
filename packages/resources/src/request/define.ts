import type { KubeObject, ResourceType } from '@crosstie/kube'
import type { JSONSchemaProps } from '@crosstie/kube/schema'
import {
  type CrdParts,
  column,
  conditionsSchema,
  crd,
  objectSchema,
  observedGenerationSchema,
} from '../definition/crd.js'
import type { FieldMatch } from '../import/discover.js'
import type { Promotion } from '../import/promote.js'
import type { Plan } from '../plan/document.js'

/**
 * Requests that the control plane answers with its own credentials: a plan (PlanRequest) or a list of existing
 * resources (DiscoveryRequest). The answer is in the status. Nothing else is written, neither to objects nor to
 * external resources (decision 48).
 */

const request = (kind: string, resource: string): ResourceType => ({
  group: 'crosstie.io',
  version: 'v1alpha1',
  kind,
  resource,
  namespaced: true,
})

/** The type of PlanRequest. */
export const planRequestType: ResourceType = request('PlanRequest', 'planrequests')
/** The type of DiscoveryRequest. */
export const discoveryRequestType: ResourceType = request('DiscoveryRequest', 'discoveryrequests')

/** The types of all requests. */
export const requestTypes: readonly ResourceType[] = [planRequestType, discoveryRequestType]

/** The user who created a request. An admission policy compares it with the user that the server authenticated. */
export interface Requester {
  readonly username: string
  readonly groups?: readonly string[]
}

interface CommonSpec {
  readonly requestedBy: Requester
  /** The time in seconds after which the controllers delete an answered request. */
  readonly ttlSecondsAfterFinished?: number
}

/** An object to plan, or an object of the planned state. */
export interface RequestedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  /** The desired object. Defaults to the object on the server. */
  readonly manifest?: KubeObject
  /** How the manifest compares with the object on the server. */
  readonly change?: 'new' | 'changed' | 'unchanged'
}

/** The spec of a PlanRequest. */
export interface PlanRequestSpec extends CommonSpec {
  readonly objects?: readonly RequestedObject[]
  /** Plan every managed resource. */
  readonly all?: boolean
  /** Plan as if the objects were deleted. */
  readonly delete?: boolean
  /** Plan as if the observed objects became managed with these policies. */
  readonly promote?: { readonly policies: readonly string[] }
}

/** One object of a plan for promotion. */
export interface PlannedPromotion
  extends Pick<Promotion, 'outcome' | 'because' | 'changes' | 'tags' | 'plan' | 'patch'> {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
}

/** The answer to a PlanRequest. */
export interface PlanRequestStatus {
  readonly plan?: Omit<Plan, 'apiVersion' | 'kind'>
  readonly promotions?: readonly PlannedPromotion[]
}

/** The spec of a DiscoveryRequest: the external resources to list. */
export interface DiscoveryRequestSpec extends CommonSpec {
  readonly provider?: string
  /** Kinds such as `vpc` or `vpcs.ec2.aws.crossplane.io`. Defaults to every kind of the provider that can be listed. */
  readonly kinds?: readonly string[]
  readonly providerConfig?: string
  /** Values of identifier fields, such as regions. */
  readonly identifiers?: Readonly<Record<string, readonly string[]>>
  readonly filters?: readonly FieldMatch[]
  /** Skip everything up to and including this position of an earlier answer. */
  readonly continue?: string
}

/** One discovered external resource. */
export interface DiscoveredItem {
  readonly apiVersion: string
  readonly kind: string
  readonly externalName: string
  readonly identifiers: Readonly<Record<string, unknown>>
  /** The manifest that observes the resource. */
  readonly manifest: KubeObject
  /** The object on the server that already represents the resource. */
  readonly object?: { readonly name: string; readonly manages: boolean }
}

/** The answer to a DiscoveryRequest. */
export interface DiscoveryRequestStatus {
  readonly items?: readonly DiscoveredItem[]
  readonly errors?: readonly { readonly kind: string; readonly message: string }[]
  /** The position to continue from. Set if there are more resources than one object can hold. */
  readonly continue?: string
}

const text = (description: string): JSONSchemaProps => ({ type: 'string', description })
const flag = (description: string): JSONSchemaProps => ({ type: 'boolean', description })
const list = (description: string, items: JSONSchemaProps): JSONSchemaProps => ({ type: 'array', description, items })
const open = (description: string): JSONSchemaProps => ({
  type: 'object',
  description,
  'x-kubernetes-preserve-unknown-fields': true,
})

const commonSpec: Readonly<Record<string, JSONSchemaProps>> = {
  requestedBy: {
    type: 'object',
    description:
      'The user who creates the request. An admission policy checks it. The answer is limited to what they may see.',
    required: ['username'],
    properties: {
      username: text('The user name that the server authenticated.'),
      groups: list('The groups that the server authenticated.', { type: 'string' }),
    },
  },
  ttlSecondsAfterFinished: {
    type: 'integer',
    description: 'The time in seconds after which an answered request is deleted.',
    default: 600,
    minimum: 0,
    maximum: 86_400,
  },
}

/** Returns the CRD of PlanRequest. */
export function planRequestCrd(): KubeObject {
  return requestCrd(planRequestType, 'A request for a plan. The control plane writes the plan into the status.', {
    spec: {
      all: flag('Plan for every managed resource.'),
      delete: flag('Plan as if the objects were deleted.'),
      promote: {
        type: 'object',
        description: 'Plan as if the observed objects became managed.',
        required: ['policies'],
        properties: { policies: list('Their managementPolicies.', { type: 'string' }) },
      },
      objects: list('The objects to plan for, and objects that the plan assumes.', {
        type: 'object',
        required: ['apiVersion', 'kind', 'name'],
        properties: {
          apiVersion: text('Group and version of the object.'),
          kind: text('Kind of the object.'),
          name: text('Name of the object.'),
          namespace: text('Namespace of the object, if it has one.'),
          change: { ...text('How the manifest compares with the server.'), enum: ['new', 'changed', 'unchanged'] },
          manifest: open(
            'The object as it would be. Absent: the object as it is on the server. Holds no Secret values.',
          ),
        },
      }),
    },
    status: {
      plan: open('The plan, as docs/reference/plan.md describes it.'),
      promotions: list('For promotions: the result for each object.', open('One object.')),
    },
  })
}

/** Returns the CRD of DiscoveryRequest. */
export function discoveryRequestCrd(): KubeObject {
  return requestCrd(
    discoveryRequestType,
    'A request for a list of external resources. The control plane writes the list into the status.',
    {
      spec: {
        provider: text('The provider whose kinds are listed.'),
        kinds: list('Kinds, such as vpc or vpcs.ec2.aws.crossplane.io. Empty: all kinds of the provider.', {
          type: 'string',
        }),
        providerConfig: { ...text('The ProviderConfig whose credentials are used.'), default: 'default' },
        identifiers: {
          type: 'object',
          description: 'Values of identifying fields, such as region.',
          additionalProperties: { type: 'array', items: { type: 'string' } },
        },
        filters: list('Conditions on fields. All of them must hold.', {
          type: 'object',
          required: ['path', 'wanted'],
          properties: {
            path: text('The field, such as tags.team.'),
            wanted: text('The value. * stands for any text.'),
            not: { ...flag('Whether the field must differ from the value.'), default: false },
          },
        }),
        continue: text('Where to continue: status.continue of an earlier answer.'),
      },
      status: {
        items: list('The external resources.', open('One external resource.')),
        errors: list('Kinds that could not be listed.', open('One kind.')),
        continue: text('Set when the list goes on: create another request with it.'),
      },
    },
  )
}

function requestCrd(
  type: ResourceType,
  description: string,
  { spec, status }: Readonly<Record<'spec' | 'status', Readonly<Record<string, JSONSchemaProps>>>>,
): KubeObject {
  const parts: CrdParts = {
    alsoServed: [],
    categories: ['crossplane'],
    shortNames: [],
    schema: objectSchema(
      description,
      {
        spec: {
          type: 'object',
          required: ['requestedBy'],
          properties: { ...commonSpec, ...spec },
          'x-kubernetes-validations': [
            { rule: 'self == oldSelf', message: 'a request cannot change: create another one' },
          ],
        },
        status: {
          type: 'object',
          properties: {
            ...status,
            completionTime: { ...text('When the request was answered.'), format: 'date-time' },
            conditions: conditionsSchema,
            observedGeneration: observedGenerationSchema,
          },
        },
      },
      ['spec'],
    ),
    columns: [
      column('USER', '{.spec.requestedBy.username}'),
      column('COMPLETE', "{.status.conditions[?(@.type=='Complete')].status}"),
      column('REASON', "{.status.conditions[?(@.type=='Complete')].reason}"),
      { ...column('AGE', '{.metadata.creationTimestamp}'), type: 'date' },
    ],
    status: true,
  }
  return crd(type, parts)
}
