import { type Condition, messageOf } from '@crosstie/kube'
import { troubleOf } from './errors.js'

const AT_ONCE = 8

/** Runs a call for each item, a few concurrently. For APIs without a batch call. */
export async function eachOf<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<readonly R[]> {
  const answers: R[] = new Array(items.length)
  let next = 0
  const worker = async () => {
    for (let i = next++; i < items.length; i = next++) answers[i] = await ask(items[i]!)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker))
  return answers
}

/** Performs changes of which AWS accepts one at a time. Rejected changes remain differences and are retried later. */
export async function oneAfterAnother(changes: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const [made, change] of changes.entries()) {
    try {
      await change()
    } catch (error) {
      if (troubleOf(error) !== 'inUse') throw error
      if (made > 0) return
      throw new Error(`AWS is still busy with an earlier change; this one is made after it: ${messageOf(error)}`, {
        cause: error,
      })
    }
  }
}

/** Returns true if ready, else a condition with the state and the issues that AWS reports. */
export function readiness(is: boolean, state: string | undefined, issues: readonly string[] = []): boolean | Condition {
  if (is) return true
  const message = [`its state is ${state ?? 'unknown'}`, ...issues].join('; ')
  return { type: 'Ready', status: 'False', reason: 'Unavailable', message }
}
