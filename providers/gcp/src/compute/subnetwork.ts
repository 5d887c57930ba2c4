import { s } from '@crosstie/resources/provider'
import { computeOperations } from '../client/operations.js'
import { compute_v1 as api } from '../discovery/compute-v1.generated.js'
import { defineGoogle, pick, readyWhen, type Step } from '../kind.js'
import { descriptionLabels, descriptionLabelsField } from '../schema/labels.js'
import { link } from '../schema/links.js'
import { network } from './network.js'

const patched = [
  'allowSubnetCidrRoutesOverlap',
  'enableFlowLogs',
  'externalIpv6Prefix',
  'ipv6AccessType',
  'logConfig',
  'privateIpv6GoogleAccess',
  'resolveSubnetMask',
  'role',
  'secondaryIpRanges',
  'stackType',
]

export const subnetwork = defineGoogle({
  api,
  schema: 'Subnetwork',
  group: 'compute',
  kind: 'Subnetwork',
  doc: 'A subnet of a VPC network.',
  overlay: {
    leftOut: { name: 'the external name', fingerprint: 'sent by the kind with each change' },
    immutable: ['description', 'purpose', 'params', 'reservedInternalRange', 'internalIpv6Prefix', 'ipCollection'],
    unreported: ['params', 'enableFlowLogs'],
    open: ['description', 'internalIpv6Prefix', 'externalIpv6Prefix'],
    declared: {
      network: link({ doc: 'The network that it is part of.', to: () => network.type, immutable: true }),
    },
  },
  fields: {
    region: s.identifier(s.string({ doc: 'Region, such as europe-west1.' })),
    descriptionLabels: descriptionLabelsField({ immutable: true }),
  },
  labels: descriptionLabels,
  operations: computeOperations,
  methods: {
    get: 'subnetworks.get',
    create: 'subnetworks.insert',
    delete: 'subnetworks.delete',
    list: 'subnetworks.list',
    items: 'items',
  },
  permissions: {
    Observe: ['compute.subnetworks.get', 'compute.subnetworks.list', 'compute.regionOperations.get'],
    Create: ['compute.subnetworks.create', 'compute.networks.updatePolicy', 'compute.regionOperations.get'],
    Update: [
      'compute.subnetworks.get',
      'compute.subnetworks.update',
      'compute.subnetworks.expandIpCidrRange',
      'compute.subnetworks.setPrivateIpGoogleAccess',
      'compute.regionOperations.get',
    ],
    Delete: ['compute.subnetworks.get', 'compute.subnetworks.delete', 'compute.regionOperations.get'],
  },
  token: true,
  place: ({ project }, name, { region }) => ({ project, region: String(region), subnetwork: name }),
  parent: ({ project }, { region }) => ({ project, region: String(region) }),
  create: ({ project }, name, body, { token, forProvider: { region } }) => ({
    method: 'subnetworks.insert',
    params: { project, region: String(region), requestId: token },
    body: { ...body, name },
  }),
  update({ client: { project }, name, forProvider: { region }, changed, found }) {
    const params = { project, region: String(region), subnetwork: name }
    const { ipCidrRange, privateIpGoogleAccess } = changed
    const body = pick(changed, patched)
    const steps: Step[] = []
    if (ipCidrRange !== undefined)
      steps.push({ method: 'subnetworks.expandIpCidrRange', params, body: { ipCidrRange } })
    if (privateIpGoogleAccess !== undefined) {
      steps.push({ method: 'subnetworks.setPrivateIpGoogleAccess', params, body: { privateIpGoogleAccess } })
    }
    // The fingerprint changes with every change, so a patch comes first.
    const { fingerprint } = found
    if (Object.keys(body).length > 0)
      steps.unshift({ method: 'subnetworks.patch', params, body: { ...body, fingerprint } })
    return steps
  },
  location: ({ region }) => String(region),
  nameOf: ({ name }) => String(name),
  ready: ({ state }) => readyWhen(state === undefined || state === 'READY', state),
})
