import { sleep } from '@crosstie/controller'
import { steadyClock } from '@crosstie/kube'
import { type Budgets, budgets } from '@crosstie/resources'
import { CALLS_PER_SECOND } from './providers.js'

/** After a rest, so many seconds' worth of calls may be made at once. */
const BURST_SECONDS = 5

/** What keeps the calls of each set of credentials to so many a second, whoever makes them: controllers, plans, imports. */
export function callBudgets(perSecond = CALLS_PER_SECOND): Budgets {
  return budgets({ perSecond, burst: BURST_SECONDS * perSecond, clock: steadyClock, sleep })
}
