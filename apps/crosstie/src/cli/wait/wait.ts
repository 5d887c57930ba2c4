import { sleep } from '@crosstie/controller'
import { compileJsonPath, conditionsOf, isExpired, type KubeObject, type ObjectKey, stringify } from '@crosstie/kube'
import { UsageError } from '../command.js'
import type { Api } from '../shared/access.js'
import type { ServedKind } from '../shared/kinds.js'

/** A condition that an object is waited for. */
export interface Aim {
  /** The condition as text after the name of an object, such as `Ready is True`. */
  readonly text: string
  reached(object: KubeObject | undefined): boolean
  /** Returns the current state as text. */
  state(object: KubeObject | undefined): string
}

/**
 * Parses `condition=Ready`, `condition=Ready=False`, `delete`, `create` or `jsonpath={.status.phase}=Bound`. Throws
 * a usage error.
 */
export function parseAim(text: string): Aim {
  if (text === 'delete') return gone
  if (text === 'create') return there
  const [form, ...rest] = text.split('=')
  const what = rest.join('=')
  if (form === 'condition' && what) return conditionAim(what)
  if (form === 'jsonpath' && what) return pathAim(what)
  throw new UsageError(
    `--for takes condition=TYPE[=STATUS], delete, create or jsonpath='{.PATH}'[=VALUE], not '${text}'`,
  )
}

const gone: Aim = {
  text: 'to be gone',
  reached: (object) => object === undefined,
  state: (object) => {
    if (!object?.metadata.deletionTimestamp) return 'it exists and is not being deleted'
    const held = object.metadata.finalizers ?? []
    const why = conditionsOf(object).find(({ type, status }) => type === 'Synced' && status === 'False')?.message
    return `it is being deleted${held.length > 0 ? `, held by ${held.join(', ')}` : ''}${why ? `: ${why}` : ''}`
  },
}

const there: Aim = {
  text: 'to be there',
  reached: (object) => object !== undefined,
  state: () => 'it is not there',
}

function conditionAim(text: string): Aim {
  const [type = '', status = 'True'] = text.split('=')
  const find = (object: KubeObject | undefined) =>
    object && conditionsOf(object).find((each) => each.type.toLowerCase() === type.toLowerCase())
  return {
    text: `to have ${type} ${status}`,
    reached(object) {
      const found = find(object)
      // A condition of an older generation does not count.
      const stale = found?.observedGeneration && found.observedGeneration < (object?.metadata.generation ?? 0)
      return found !== undefined && !stale && found.status.toLowerCase() === status.toLowerCase()
    },
    state(object) {
      const found = find(object)
      const others = object ? conditionsOf(object) : []
      const synced = others.find((each) => each.type === 'Synced' && each.status === 'False')
      if (!found) return synced?.message ?? `it has no condition ${type} yet`
      const why = found.message || synced?.message || found.reason
      return `${found.type} is ${found.status}${why ? `: ${why}` : ''}`
    },
  }
}

function pathAim(text: string): Aim {
  const [, braced, plain, value] = /^(?:\{(.*)\}|([^=]*))(?:=(.*))?$/s.exec(text) ?? []
  const path = braced ?? plain ?? ''
  const read = compileJsonPath(path)
  const found = (object: KubeObject | undefined) =>
    object ? read(object).map((each) => (typeof each === 'string' ? each : stringify(each))) : []
  return {
    text: value === undefined ? `to have ${path}` : `to have ${path} ${value}`,
    reached: (object) => (value === undefined ? found(object).length > 0 : found(object).includes(value)),
    state: (object) => `${path} is ${found(object).join(' ') || 'not set'}`,
  }
}

const RETRY_MS = 500

/**
 * Yields every state of an object from the current one on, and undefined while it does not exist. Ends with the
 * signal.
 */
export async function* statesOf(
  api: Api,
  kind: ServedKind,
  key: ObjectKey,
  signal: AbortSignal,
): AsyncGenerator<KubeObject | undefined> {
  const where = { ...(key.namespace ? { namespace: key.namespace } : {}), fieldSelector: `metadata.name=${key.name}` }
  while (!signal.aborted) {
    const { items, metadata } = await api.client.list(kind, { ...where, signal })
    yield items[0]
    try {
      const { resourceVersion } = metadata
      for await (const event of api.client.watch(kind, { ...where, resourceVersion, signal })) {
        if (event.type !== 'BOOKMARK') yield event.type === 'DELETED' ? undefined : event.object
      }
    } catch (error) {
      if (!isExpired(error)) throw error
    }
    // A delay, in case the server ends watches immediately.
    await sleep(RETRY_MS, signal)
  }
}
