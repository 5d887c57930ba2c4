import type { Condition } from '@crosstie/kube'

/** The prefix of a condition message about a reference that cannot be resolved yet. The field path follows. */
export const UNRESOLVED = 'cannot resolve references'

/**
 * The conditions of a managed resource. The transition time and the observed generation are added when they are
 * written.
 */
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
  /** The name of the object's external resource was lost. A user has to set it. */
  externalNameLost: (message: string): Condition => ({
    type: 'Synced',
    status: 'False',
    reason: 'ExternalNameLost',
    ...said(message),
  }),
  /** The external resource belongs to another owner, or another object manages it. */
  externalNameTaken: (message: string): Condition => ({
    type: 'Synced',
    status: 'False',
    reason: 'ExternalNameTaken',
    ...said(message),
  }),
  /** The provider or the control plane needs the external name. */
  externalNameForbidden: (message: string): Condition => ({
    type: 'Synced',
    status: 'False',
    reason: 'ExternalNameForbidden',
    ...said(message),
  }),
  reconcilePaused: (): Condition => ({ type: 'Synced', status: 'False', reason: 'ReconcilePaused' }),
  /** The object waits for approval. The Approved condition has the details. */
  awaitingApproval: (): Condition => ({ type: 'Synced', status: 'False', reason: 'AwaitingApproval' }),
  observeMatched: (): Condition => ({ type: 'UpToDate', status: 'True', reason: 'ObserveMatched' }),
  updateRequested: (): Condition => ({ type: 'UpToDate', status: 'False', reason: 'UpdateRequested' }),
  updateRestricted: (): Condition => ({ type: 'UpToDate', status: 'False', reason: 'UpdateRestricted' }),
  updateFailed: (): Condition => ({ type: 'UpToDate', status: 'False', reason: 'UpdateFailed' }),
  pausedUnknown: (): Condition => ({ type: 'UpToDate', status: 'Unknown', reason: 'ReconcilePaused' }),
}

/** The Approved condition: whether a person approved the plan. */
export const approvals = {
  planApproved: (plan: string): Condition => ({
    type: 'Approved',
    status: 'True',
    reason: 'PlanApproved',
    message: plan,
  }),
  nothing: (): Condition => ({ type: 'Approved', status: 'True', reason: 'NothingToApprove' }),
  required: (message: string): Condition => ({
    type: 'Approved',
    status: 'False',
    reason: 'ApprovalRequired',
    message,
  }),
  stale: (message: string): Condition => ({ type: 'Approved', status: 'False', reason: 'StalePlan', message }),
}

/** The Drifted condition: which fields differ from the spec, and whether or why not they were corrected. */
export const drifts = {
  notAllowed: (fields: string): Condition => ({
    type: 'Drifted',
    status: 'True',
    reason: 'NotAllowed',
    ...said(fields),
  }),
  immutable: (fields: string): Condition => ({ type: 'Drifted', status: 'True', reason: 'Immutable', ...said(fields) }),
  ignored: (fields: string): Condition => ({ type: 'Drifted', status: 'True', reason: 'Ignored', ...said(fields) }),
  unapproved: (fields: string): Condition => ({
    type: 'Drifted',
    status: 'True',
    reason: 'AwaitingApproval',
    ...said(fields),
  }),
  /** The update sent no request. */
  notCorrected: (fields: string): Condition => ({
    type: 'Drifted',
    status: 'True',
    reason: 'NotCorrected',
    message: `${fields}; the update sent no request to the provider`,
  }),
  updateLoop: (fields: string, updates: number): Condition => ({
    type: 'Drifted',
    status: 'True',
    reason: 'UpdateLoop',
    message: `${fields}; ${updates} updates in a row had no lasting effect, so further ones are sent at growing intervals`,
  }),
  corrected: (fields: string): Condition => ({
    type: 'Drifted',
    status: 'False',
    reason: 'Corrected',
    ...said(fields),
  }),
  inStep: (): Condition => ({ type: 'Drifted', status: 'False', reason: 'InStep' }),
}

const said = (message: string): { message?: string } => (message === '' ? {} : { message })
