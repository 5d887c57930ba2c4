import { sleep } from '@crosstie/controller'
import { ignoring, isNotFound, type KubeObject } from '@crosstie/kube'
import { deepestCause, type Traced, traceClaim } from '@crosstie/resources'
import type { Api } from '../shared/access.js'
import type { Kinds, ServedKind } from '../shared/kinds.js'
import type { Progress } from '../shared/progress.js'
import type { Paint } from '../shared/terminal.js'

/** Options of {@link followUntilReady}. */
export interface FollowOptions {
  readonly api: Api
  readonly kinds: Kinds
  readonly out: (line: string) => void
  readonly paint: Paint
  readonly progress: Progress
  readonly signal: AbortSignal
}

/** An object that is followed. */
export interface Followed {
  readonly kind: ServedKind
  readonly object: KubeObject
}

const LOOK_MS = 250
/** An object without progress for this time is reported, also without a terminal. */
const STUCK_MS = 15_000

/** Follows objects and their resources until they are ready. Reports every resource when it is ready. */
export async function followUntilReady(options: FollowOptions, objects: readonly Followed[]): Promise<void> {
  const { api, kinds, out, paint, progress, signal } = options
  const began = Date.now()
  const done = new Set<string>()
  let reported = { cause: '', at: began }
  while (!signal.aborted) {
    const trees = await Promise.all(
      objects.map(({ kind, object: { metadata } }) => look(api, kinds, kind, metadata.name!, metadata.namespace)),
    )
    for (const node of trees.flatMap((tree) => (tree ? partsOf(tree) : []))) {
      const name = nameOf(node)
      if (node.ready !== 'True' || done.has(name)) continue
      done.add(name)
      const seconds = ((Date.now() - began) / 1000).toFixed(1)
      const state = trees.includes(node) && node.phase === 'Bound' ? 'bound' : 'ready'
      out(`  ${paint.green('✓')} ${name.padEnd(NAME_WIDTH)} ${paint.green(state)} ${paint.dim(`after ${seconds} s`)}`)
    }
    if (trees.every((tree) => tree?.ready === 'True')) return
    const waiting = trees.find((tree) => tree && tree.ready !== 'True')
    const cause = waiting && deepestCause(waiting)
    const text = cause ? `${nameOf(cause)}: ${cause.why}` : 'waiting for the objects'
    progress.say(text)
    if (text !== reported.cause) reported = { cause: text, at: Date.now() }
    else if (Date.now() - reported.at > STUCK_MS) {
      out(`  ${paint.yellow('…')} ${text}`)
      reported = { cause: text, at: Number.POSITIVE_INFINITY }
    }
    await sleep(LOOK_MS, signal)
  }
}

const NAME_WIDTH = 48

async function look(api: Api, kinds: Kinds, kind: ServedKind, name: string, namespace: string | undefined) {
  const key = kind.namespaced ? { name, namespace: namespace ?? api.namespace } : { name }
  const claim = await api.client.get(kind, key).catch(ignoring(isNotFound))
  return claim && (await traceClaim({ client: api.client, types: kinds.all }, claim).catch(ignoring(isNotFound)))
}

/** Returns the resources of a tree, leaves first. */
const partsOf = (tree: Traced): readonly Traced[] => [...tree.children.flatMap(partsOf), tree]

const nameOf = ({ reference: { kind, namespace, name } }: Traced): string =>
  `${kind} ${namespace ? `${namespace}/` : ''}${name}`
