import { sleep } from '@crosstie/controller'
import { steadyClock } from '@crosstie/kube'
import { type Budgets, budgets } from '@crosstie/resources'
import { CALLS_PER_SECOND } from './providers.js'

/** The burst of a budget in seconds. */
const BURST_SECONDS = 5

/** Returns rate limits per set of credentials. Controllers, plans and imports share them. */
export function callBudgets(perSecond = CALLS_PER_SECOND): Budgets {
  return budgets({ perSecond, burst: BURST_SECONDS * perSecond, clock: steadyClock, sleep })
}
