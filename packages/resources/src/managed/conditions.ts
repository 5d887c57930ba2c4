import type { Condition } from '@crosstie/kube'

/** The conditions of a managed resource. When it changed and of which generation it speaks is added when it is written. */
export const conditions = {
  creating: (): Condition => ({ type: 'Ready', status: 'False', reason: 'Creating' }),
  deleting: (): Condition => ({ type: 'Ready', status: 'False', reason: 'Deleting' }),
  available: (): Condition => ({ type: 'Ready', status: 'True', reason: 'Available' }),
  unavailable: (message = ''): Condition => ({
    type: 'Ready',
    status: 'False',
    reason: 'Unavailable',
    ...said(message),
  }),
  reconcileSuccess: (): Condition => ({ type: 'Synced', status: 'True', reason: 'ReconcileSuccess' }),
  reconcileError: (message: string): Condition => ({
    type: 'Synced',
    status: 'False',
    reason: 'ReconcileError',
    ...said(message),
  }),
  reconcilePaused: (): Condition => ({ type: 'Synced', status: 'False', reason: 'ReconcilePaused' }),
  observeMatched: (): Condition => ({ type: 'UpToDate', status: 'True', reason: 'ObserveMatched' }),
  updateRequested: (): Condition => ({ type: 'UpToDate', status: 'False', reason: 'UpdateRequested' }),
  updateRestricted: (): Condition => ({ type: 'UpToDate', status: 'False', reason: 'UpdateRestricted' }),
  updateFailed: (): Condition => ({ type: 'UpToDate', status: 'False', reason: 'UpdateFailed' }),
  pausedUnknown: (): Condition => ({ type: 'UpToDate', status: 'Unknown', reason: 'ReconcilePaused' }),
}

const said = (message: string): { message?: string } => (message === '' ? {} : { message })
