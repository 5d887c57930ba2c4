import type { Next } from '@crosstie/controller'
import { type Condition, conditionsOf } from '@crosstie/kube'
import { conditions } from '../status/conditions.js'
import { createExternal } from './create/create.js'
import { intentAgeLeft } from './create/create-intent.js'
import type { Decision } from './decide.js'
import { deleteExternal, release } from './delete/delete.js'
import { deleteOrphan } from './delete/orphaned-member.js'
import type { Gathered } from './observe/gather.js'
import { lostNameMessage } from './ownership/external-name.js'
import { noteName, notesOfName } from './ownership/record-name.js'
import type { Reconciliation } from './reconciliation.js'
import { converge } from './update/update.js'

/** The handler of each decision. */
export const act: Readonly<Record<Decision['do'], (gathered: Gathered, decision: Decision) => Promise<Next>>> = {
  create: createExternal,
  delete: deleteExternal,
  release: ({ reconciliation }) => release(reconciliation),
  wait,
  fail: failAbsent,
  stop: ({ reconciliation }) => stopUnnamed(reconciliation),
  refuse: ({ reconciliation }, { because }) => refuse(reconciliation, conditions.externalNameTaken(because)),
  converge,
}

async function wait({ reconciliation, facts, aggregate }: Gathered, { because, announced }: Decision): Promise<Next> {
  if (announced) reconciliation.event('Normal', 'PendingExternalResource', because)
  if (aggregate === 'gone' && !reconciliation.history.attempted) await deleteOrphan(reconciliation)
  const milliseconds = facts.createInDoubt ? intentAgeLeft(reconciliation) : 0
  return milliseconds > 0 ? { after: 'poll', seconds: milliseconds / 1000 } : { after: 'backoff', progress: true }
}

async function failAbsent({ reconciliation }: Gathered, { because }: Decision): Promise<Next> {
  reconciliation.event('Warning', 'CannotObserveExternalResource', because)
  const unnoted = notesOfName(reconciliation, undefined)
  if (unnoted) await noteName(reconciliation, unnoted)
  reconciliation.know({})
  await reconciliation.report(conditions.reconcileError(`observe failed: ${because}`))
  return reconciliation.poll()
}

/** Reports that the external resource cannot be identified. A user has to set its name. */
async function stopUnnamed(reconciliation: Reconciliation): Promise<Next> {
  const message = lostNameMessage(reconciliation)
  reconciliation.event('Warning', 'ExternalNameLost', message)
  await reconciliation.report(conditions.externalNameLost(message))
  return reconciliation.poll()
}

/** Reports an external name that a claim must not use. Nothing is changed. */
export const refuseName = (reconciliation: Reconciliation, because: string): Promise<Next> =>
  refuse(reconciliation, conditions.externalNameForbidden(because))

/** Changes nothing and publishes nothing about the external resource. Emits one event for each new reason. */
async function refuse(reconciliation: Reconciliation, condition: Condition): Promise<Next> {
  const { reason, message = '' } = condition
  const held = conditionsOf(reconciliation.managed).find(({ type }) => type === 'Synced')
  if (held?.reason !== reason || held.message !== message) reconciliation.event('Warning', reason, message)
  await reconciliation.report(conditions.unavailable(message), condition)
  return reconciliation.poll()
}
