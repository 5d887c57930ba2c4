import { sleep } from '@crosstie/controller'
import { isExpired, type KubeObject, type ListOptions } from '@crosstie/kube'
import type { Api } from '../shared/access.js'
import type { ServedKind } from '../shared/kinds.js'

const RETRY_MS = 1_000

/** A resource that is watched. */
export interface Watched {
  readonly kind: ServedKind
  readonly where: ListOptions
  /** Changes after this revision are reported. */
  readonly revision: string | undefined
}

/** Starts a watch. Changes after the call are not missed. */
export async function watchFromNow(
  api: Api,
  kind: ServedKind,
  { name, ...rest }: ListOptions & { readonly name?: string },
): Promise<Watched> {
  const where = name ? { ...rest, fieldSelector: `metadata.name=${name}` } : rest
  return { kind, where, revision: (await api.client.list(kind, { ...where, limit: 1 })).metadata.resourceVersion }
}

/** Reports every change until the signal aborts. Changes during a new list are not reported. */
export async function watchChanges(
  api: Api,
  { kind, where, revision: first }: Watched,
  tell: (object: KubeObject, gone: boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let revision = first
  while (!signal.aborted) {
    revision ??= (await api.client.list(kind, { ...where, limit: 1, signal })).metadata.resourceVersion
    try {
      for await (const { type, object } of api.client.watch(kind, { ...where, resourceVersion: revision, signal })) {
        revision = object.metadata.resourceVersion
        if (type !== 'BOOKMARK') await tell(object, type === 'DELETED')
      }
    } catch (error) {
      if (!isExpired(error)) throw error
      revision = undefined
    }
    // A delay, in case the server ends watches immediately.
    await sleep(RETRY_MS, signal)
  }
}
