import { conditionsOf, type KubeObject } from '@crosstie/kube'
import { isPaused } from '@crosstie/resources'
import type { Progress } from '../shared/progress.js'
import type { Paint } from '../shared/terminal.js'

export interface States {
  readonly ready: number
  readonly waiting: number
  readonly drifted: number
  readonly paused: number
}

/** How managed resources are, all in all. */
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

export function liveText({ ready, waiting, drifted, paused }: States, paint: Paint): string {
  const some = (count: number, word: string, colour: (text: string) => string) =>
    count > 0 ? colour(`${count} ${word}`) : paint.dim(`${count} ${word}`)
  const parts = [
    some(ready, 'ready', paint.green),
    some(waiting, 'not ready', paint.yellow),
    some(drifted, 'drifted', paint.red),
    ...(paused > 0 ? [some(paused, 'paused', paint.cyan)] : []),
  ]
  return `● ${parts.join(' · ')}`
}

const LOOK_MS = 1_000

/** Keeps one line at the bottom of the terminal current, until it is disposed of. */
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
