import { at, textOf, valuesOf } from '../../values.js'
import { type Answer, type Behavior, done, type Polling } from '../behavior.js'
import { badRequest } from '../problem.js'
import { lastName } from '../resource-id.js'
import type { Stored } from '../world.js'

const below = '/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Network'
const polling: Polling = {
  status: `${below}/privateDnsOperationStatuses/{operation}`,
  result: `${below}/privateDnsOperationResults/{operation}`,
  retryAfter: 30,
  accepted: true,
}
const begun: Answer = { status: 202, body: 'empty', polling }
const removed: Answer = { status: 202, polling }

const LINK = 'Microsoft.Network/privateDnsZones/virtualNetworkLinks'
const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SRV', 'TXT'] as const

const records = (type: string): Behavior => ({
  create: done(201, 'resource'),
  update: done(200, 'resource'),
  remove: done(200),
  show: ({ target, body, etag }) => ({
    etag,
    properties: {
      fqdn: `${lastName(target)}.${target.names[0]}.`,
      ...valuesOf(body['properties']),
      isAutoRegistered: false,
    },
    type: `Microsoft.Network/privateDnsZones/${type}`,
  }),
})

const isRegistering = ({ body }: Stored): boolean => at(body, 'properties.registrationEnabled') === true

export const privateDns: Readonly<Record<string, Behavior>> = {
  'Microsoft.Network/privateDnsZones': {
    create: begun,
    update: begun,
    remove: removed,
    hidden: true,
    location: 'short',
    checkRemove(held, world) {
      if (world.below(held.id, LINK).next().done) return
      throw badRequest(
        'CannotDeleteResource',
        `Can not delete resource before nested resources are deleted: '${held.id}' has virtual network links.`,
      )
    },
    show(resource, world) {
      const links = [...world.below(resource.id, LINK)]
      const sets = RECORD_TYPES.flatMap((type) => [
        ...world.below(resource.id, `Microsoft.Network/privateDnsZones/${type}`),
      ])
      return {
        etag: resource.etag,
        properties: {
          maxNumberOfRecordSets: 25_000,
          maxNumberOfVirtualNetworkLinks: 1_000,
          maxNumberOfVirtualNetworkLinksWithRegistration: 100,
          numberOfRecordSets: sets.length + 1,
          numberOfVirtualNetworkLinks: links.length,
          numberOfVirtualNetworkLinksWithRegistration: links.filter(isRegistering).length,
          provisioningState: 'Succeeded',
        },
      }
    },
  },
  [LINK]: {
    create: begun,
    update: begun,
    remove: removed,
    hidden: true,
    location: 'short',
    check({ body, world }) {
      const id = textOf(at(body, 'properties.virtualNetwork.id'))
      if (id === undefined) throw badRequest('BadRequest', 'The virtual network of the link is missing.')
      if (world.find(id)) return
      throw badRequest('BadRequest', `The virtual network '${id}' does not exist.`)
    },
    show: ({ etag, body }) => ({
      etag,
      properties: {
        provisioningState: 'Succeeded',
        registrationEnabled: false,
        ...valuesOf(body['properties']),
        virtualNetworkLinkState: 'Completed',
      },
    }),
  },
  ...Object.fromEntries(RECORD_TYPES.map((type) => [`Microsoft.Network/privateDnsZones/${type}`, records(type)])),
}
