import type { ListOptions, ResourceType, WatchOptions, WriteOptions } from '@crosstie/kube'

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>

/** The object, collection or subresource that a URL addresses. */
interface Target {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

/** Returns `/apis/group/version/namespaces/ns/resource/name/subresource?query`; absent parts are omitted. */
export function pathOf(
  { group, version, resource, namespaced }: ResourceType,
  { namespace, name, subresource }: Target,
  parameters: Parameters = {},
): string {
  const parts = [group === '' ? `/api/${version}` : `/apis/${group}/${version}`]
  if (namespaced && namespace) parts.push('namespaces', encodeURIComponent(namespace))
  parts.push(resource)
  if (name) parts.push(encodeURIComponent(name))
  if (subresource) parts.push(subresource)
  return parts.join('/') + queryOf(parameters)
}

function queryOf(parameters: Parameters): string {
  const pairs: string[] = []
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') pairs.push(`${name}=${encodeURIComponent(value)}`)
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Returns the query parameters of a list request. */
export function listParameters(options: ListOptions): Parameters {
  const { labelSelector, fieldSelector, limit, continue: token, resourceVersion, resourceVersionMatch } = options
  return { labelSelector, fieldSelector, limit, continue: token, resourceVersion, resourceVersionMatch }
}

/** Returns the query parameters of a watch request. */
export function watchParameters(options: WatchOptions): Parameters {
  const { labelSelector, fieldSelector, resourceVersion, allowWatchBookmarks, sendInitialEvents, timeoutSeconds } =
    options
  return {
    watch: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    allowWatchBookmarks,
    sendInitialEvents,
    // The server requires this parameter, although it accepts only this value.
    resourceVersionMatch: sendInitialEvents === undefined ? undefined : 'NotOlderThan',
    timeoutSeconds,
  }
}

/** Returns the query parameters of a write request. */
export function writeParameters({ dryRun, fieldManager, fieldValidation }: WriteOptions): Parameters {
  return { dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation }
}
