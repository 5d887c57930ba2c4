import type { Api } from '../discovery/api.js'

const services: Readonly<Record<string, string>> = { sqladmin: 'cloudsql' }
const verbs: Readonly<Record<string, string>> = { insert: 'create', patch: 'update' }

/** Methods whose permission has a name of its own. */
const named: Readonly<Record<string, string>> = {
  'sqladmin.operations.get': 'cloudsql.instances.get',
  'container.clusters.nodePools.get': 'container.clusters.get',
  'container.clusters.nodePools.list': 'container.clusters.get',
  'container.clusters.nodePools.create': 'container.clusters.update',
  'container.clusters.nodePools.update': 'container.clusters.update',
  'container.clusters.nodePools.delete': 'container.clusters.update',
  'container.clusters.nodePools.setAutoscaling': 'container.clusters.update',
  'container.clusters.nodePools.setManagement': 'container.clusters.update',
  'container.clusters.nodePools.setSize': 'container.clusters.update',
  'container.clusters.setLegacyAbac': 'container.clusters.update',
  'container.clusters.setMaintenancePolicy': 'container.clusters.update',
  'container.clusters.setNetworkPolicy': 'container.clusters.update',
  'container.clusters.setResourceLabels': 'container.clusters.update',
}

/** The IAM permission that a method needs: `compute.networks.create` for `networks.insert`. */
export function permissionOf({ name }: Api, method: string): string {
  const short = `${name}.${method.replace(/^projects\.(locations\.)?/, '')}`
  const own = named[short]
  if (own) return own
  const parts = short.split('.')
  const verb = parts.pop() ?? ''
  const [service = '', ...resource] = parts
  return [services[service] ?? service, ...resource, verbs[verb] ?? verb].join('.')
}
