import type { KubeObject, ResourceType } from '@crosstie/kube'
import { column, crd, objectSchema, referenceSchema } from './crd.js'

/**
 * The type of ExternalNameReservation. A reservation gives one managed resource the exclusive right to manage one
 * external resource. Its name is derived from the identity of the external resource, so creating the object is the
 * atomic operation that selects one owner across all processes (decision 27).
 */
export const reservationType: ResourceType = {
  group: 'crosstie.io',
  version: 'v1alpha1',
  kind: 'ExternalNameReservation',
  resource: 'externalnamereservations',
  namespaced: false,
}

/** The spec of ExternalNameReservation. */
export interface ReservationSpec {
  readonly externalName: string
  readonly ownerRef: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }
}

/** Returns the CRD of ExternalNameReservation. Only the controllers write it. */
export function reservationCrd(): KubeObject {
  const spec = {
    type: 'object',
    description: 'Which external resource is reserved, and for which managed resource.',
    required: ['externalName', 'ownerRef'],
    properties: {
      externalName: { type: 'string', description: 'The external name that is reserved.' },
      providerConfigName: { type: 'string', description: 'The ProviderConfig that the name is reserved in.' },
      ownerRef: {
        ...referenceSchema('The managed resource that may manage the external resource.'),
        required: ['apiVersion', 'kind', 'name', 'uid'],
      },
    },
    'x-kubernetes-validations': [
      { rule: 'self == oldSelf', message: 'a reservation cannot change: delete it and create another one' },
    ],
  }
  return crd(reservationType, {
    alsoServed: [],
    categories: ['crossplane'],
    shortNames: [],
    schema: objectSchema(
      'The exclusive right of one managed resource to manage one external resource. Written by the controllers alone.',
      { spec },
      ['spec'],
    ),
    columns: [
      column('EXTERNAL-NAME', '{.spec.externalName}'),
      column('OWNER-KIND', '{.spec.ownerRef.kind}'),
      column('OWNER', '{.spec.ownerRef.name}'),
      { ...column('AGE', '{.metadata.creationTimestamp}'), type: 'date' },
    ],
    status: false,
  })
}
