import { conditionsOf, type KubeObject } from '@crosstie/kube'
import { isPaused } from '@crosstie/resources'
import type { Progress } from '../shared/progress.js'
import type { Paint } from '../shared/terminal.js'

/** The number of resources by state. */
export interface States {
  readonly ready: number
  readonly waiting: number
  readonly drifted: number
  readonly paused: number
}

/** Counts managed resources by state. */
export function statesOf(objects: Iterable<KubeObject>): States {
  const states = { ready: 0, waiting: 0, drifted: 0, paused: 0 }
  for (const object of objects) {
    const conditions = conditionsOf(object)
    const is = (type: string) => conditions.some((each) => each.type === type && each.status === 'True')
    if (isPaused(object)) states.paused++
    if (is('Drifted')) states.drifted++
    if (is('Ready')) states.ready++
    else states.waiting++
  }
  return states
}

/** Formats the status line. */
export function liveText({ ready, waiting, drifted, paused }: States, paint: Paint): string {
  const some = (count: number, word: string, color: (text: string) => string) =>
    count > 0 ? color(`${count} ${word}`) : paint.dim(`${count} ${word}`)
  const parts = [
    some(ready, 'ready', paint.green),
    some(waiting, 'not ready', paint.yellow),
    some(drifted, 'drifted', paint.red),
    ...(paused > 0 ? [some(paused, 'paused', paint.cyan)] : []),
  ]
  return `● ${parts.join(' · ')}`
}

const LOOK_MS = 1_000

/** Keeps the status line of a terminal up to date until it is disposed. */
export function showLive(progress: Progress, paint: Paint, objects: () => Iterable<KubeObject>): Disposable {
  const show = () => progress.rest(liveText(statesOf(objects()), paint))
  const timer = progress.shows ? setInterval(show, LOOK_MS) : undefined
  if (progress.shows) show()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      progress.stop()
    },
  }
}
