import {
  type Condition,
  getCondition,
  sameCondition,
  sameConditions,
  setConditions,
  systemConditionTypes,
} from '@crosstie/kube'
import { conditions as constructors } from '../status/conditions.js'
import type { Report, Vector } from './report.js'

/** Runs conditions.json. The recorded times are small numbers; ours are strings. */
export function runConditions(file: Vector, report: Report): void {
  const each = (list: string, run: (vector: Vector) => Vector) => {
    for (const [i, vector] of ((file[list] ?? []) as Vector[]).entries()) {
      report.compare(`conditions ${list}[${i}]`, () => ({ ...vector, ...run(vector) }), vector)
    }
  }
  each('conditionEqual', ({ a, b }) => ({ equal: sameCondition(timed(a), timed(b)) }))
  each('statusEqual', ({ a, b }) => ({ equal: sameConditions(a.map(timed), b.map(timed)) }))
  each('getCondition', ({ start, type }) => ({ result: untimed(getCondition(start.map(timed), type)) }))
  each('setConditions', ({ start, set }) => {
    const before = start.map(timed) as Condition[]
    const result = setConditions(before, ...set.map(timed))
    return { changed: result !== before, result: result.map(untimed) }
  })
  each('markConditions', ({ start, mark, generation }) => {
    const marked = mark.map((condition: Vector) => ({ ...timed(condition), observedGeneration: generation }))
    return { result: setConditions(start.map(timed), ...marked).map(untimed) }
  })
  each('constructors', ({ constructor: name }) => {
    const [, base, argument] = /^(\w+)(?:\((.*)\))?/.exec(String(name).replace(/\.With.*/, '')) ?? []
    const make = constructors[`${base![0]!.toLowerCase()}${base!.slice(1)}` as keyof typeof constructors]
    return { ...make(argument ?? ''), ...extrasOf(String(name)) }
  })
  const types = (file['systemTypes'] ?? {}) as Record<string, boolean>
  for (const [type, expected] of Object.entries(types)) {
    report.compare(`conditions systemTypes ${type}`, () => systemConditionTypes.includes(type), expected)
  }
}

function extrasOf(call: string): Partial<Condition> {
  const message = /WithMessage\((.*)\)/.exec(call)?.[1]
  const generation = /WithObservedGeneration\((.*)\)/.exec(call)?.[1]
  return { ...(message ? { message } : {}), ...(generation ? { observedGeneration: Number(generation) } : {}) }
}

function timed({ t, ...condition }: Vector): Condition {
  return { ...condition, ...(t === undefined ? {} : { lastTransitionTime: String(t) }) } as Condition
}

function untimed({ lastTransitionTime, observedGeneration, ...condition }: Condition): Vector {
  return {
    ...condition,
    ...(observedGeneration ? { observedGeneration } : {}),
    ...(lastTransitionTime === undefined ? {} : { t: Number(lastTransitionTime) }),
  }
}
