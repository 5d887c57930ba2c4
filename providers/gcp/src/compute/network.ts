import { computeOperations } from '../client/operations.js'
import { compute_v1 as api } from '../discovery/compute-v1.generated.js'
import { defineGoogle, pick } from '../kind.js'
import { descriptionLabels, descriptionLabelsField } from '../schema/labels.js'

const updatable = [
  'routingConfig',
  'mtu',
  'enableUlaInternalIpv6',
  'internalIpv6Range',
  'networkFirewallPolicyEnforcementOrder',
]

export const network = defineGoogle({
  api,
  schema: 'Network',
  group: 'compute',
  kind: 'Network',
  doc: 'A VPC network.',
  overlay: {
    leftOut: { name: 'the external name' },
    immutable: ['description', 'networkProfile', 'params'],
    unreported: ['params'],
    open: ['description'],
  },
  fields: { descriptionLabels: descriptionLabelsField({ immutable: true }) },
  labels: descriptionLabels,
  operations: computeOperations,
  methods: {
    get: 'networks.get',
    create: 'networks.insert',
    delete: 'networks.delete',
    list: 'networks.list',
    items: 'items',
  },
  permissions: {
    Observe: ['compute.networks.get', 'compute.networks.list', 'compute.globalOperations.get'],
    Create: ['compute.networks.create', 'compute.globalOperations.get'],
    Update: [
      'compute.networks.get',
      'compute.networks.update',
      'compute.networks.switchToCustomMode',
      'compute.globalOperations.get',
    ],
    Delete: ['compute.networks.get', 'compute.networks.delete', 'compute.globalOperations.get'],
  },
  token: true,
  place: ({ project }, name) => ({ project, network: name }),
  parent: ({ project }) => ({ project }),
  create: ({ project }, name, body, { token }) => ({
    method: 'networks.insert',
    params: { project, requestId: token },
    // Without the field Google creates a legacy network.
    body: { autoCreateSubnetworks: false, ...body, name },
  }),
  update({ client: { project }, name, changed, fields }) {
    const params = { project, network: name }
    const body = pick(changed, updatable)
    const steps = Object.keys(body).length > 0 ? [{ method: 'networks.patch', params, body }] : []
    const toCustom = fields.has('autoCreateSubnetworks') && changed['autoCreateSubnetworks'] === false
    return toCustom ? [...steps, { method: 'networks.switchToCustomMode', params }] : steps
  },
  location: () => 'global',
  nameOf: ({ name }) => String(name),
  ready: () => true,
})
