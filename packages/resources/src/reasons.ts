import { terraformReasons } from './terraform-reasons.js'

/** The reasons of conditions and events. The reference page is generated from them. */

/** The kind of object that has the condition or event. */
export type On = 'managed' | 'claim' | 'aggregate' | 'query' | 'ProviderConfig' | 'request' | 'TerraformProvider'
/** A reason with its meaning and the next step. */
export interface Explained {
  readonly reason: string
  readonly on: readonly On[]
  readonly means: string
  readonly next: string
}

/** A reason of conditions. */
export interface ConditionReason extends Explained {
  readonly type: 'Ready' | 'Synced' | 'Drifted' | 'Approved' | 'ConnectionKeysUnique' | 'Complete' | 'Installed'
  readonly status: 'True' | 'False'
}

/** Reasons that only managed resources have. */
export const managed: readonly On[] = ['managed']
/** Reasons that all reconciled kinds have. */
export const everybody: readonly On[] = ['managed', 'claim', 'aggregate', 'query']
/** The next step if the user does not have to act. */
export const nothing = 'Nothing.'
const ready = { type: 'Ready', status: 'True' } as const
const notReady = { type: 'Ready', status: 'False' } as const
const synced = { type: 'Synced', status: 'True' } as const
const notSynced = { type: 'Synced', status: 'False' } as const
const drifted = { type: 'Drifted', status: 'True', on: managed } as const
const inStep = { type: 'Drifted', status: 'False', on: managed } as const
const approved = { type: 'Approved', status: 'True', on: managed } as const
const notApproved = { type: 'Approved', status: 'False', on: managed } as const
const complete = { type: 'Complete', status: 'True', on: ['request'] } as const
const notComplete = { type: 'Complete', status: 'False', on: ['request'] } as const
/** All reasons of conditions. */
export const conditionReasons: readonly ConditionReason[] = [
  ...terraformReasons,
  { ...ready, reason: 'Available', on: everybody, means: 'It can be used.', next: nothing },
  {
    ...notReady,
    reason: 'Creating',
    on: managed,
    means: 'Its creation was asked for, and is not over.',
    next: 'Wait. If it takes long, look at Synced and at the events.',
  },
  {
    ...notReady,
    reason: 'Deleting',
    on: managed,
    means: 'Its deletion was asked for, and is not over.',
    next: 'Wait. If it takes long, look at Synced: the provider may refuse, for example while others use it.',
  },
  {
    ...notReady,
    reason: 'Unavailable',
    on: ['managed', 'query'],
    means: 'It exists, but the provider says that it cannot be used; the message says why if the provider does.',
    next: 'Wait, if it is starting; else look at it with the tools of the provider.',
  },
  {
    ...notReady,
    reason: 'Waiting',
    on: ['claim', 'aggregate'],
    means: 'Something else has to happen first; the message says what.',
    next: 'See what it waits for with crosstie trace.',
  },
  {
    ...notReady,
    reason: 'Lost',
    on: ['claim'],
    means: 'What met the claim is gone.',
    next: 'Delete the claim and make a new one, or restore what is gone under the same name.',
  },
  {
    ...synced,
    reason: 'ReconcileSuccess',
    on: everybody,
    means: 'The last turn did all that was to be done.',
    next: nothing,
  },
  {
    ...notSynced,
    reason: 'ExternalNameLost',
    on: managed,
    means:
      'The object has an external resource, but the annotation crossplane.io/external-name was removed or changed, and the resource cannot be found. Nothing is created, changed or deleted.',
    next: 'Set the annotation to the name of the external resource. If that is gone, remove the finalizer finalizer.managedresource.crossplane.io.',
  },
  {
    ...notSynced,
    reason: 'ReconcileError',
    on: everybody,
    means: 'The last turn failed; the message says at what, in the words of whoever refused.',
    next: 'Mend what the message names. It is tried again by itself, at growing intervals.',
  },
  {
    ...notReady,
    reason: 'ExternalNameTaken',
    on: ['claim', 'aggregate'],
    means:
      'The external resource that the claim names exists and was not created for it, or another object manages it. It is left as it is.',
    next: 'Delete the claim and create it again with another external name. To adopt the resource, an infrastructure operator provisions it statically or permits it with adoptionPolicy.',
  },
  {
    ...notReady,
    reason: 'ExternalNameForbidden',
    on: ['claim', 'aggregate'],
    means: 'The provider or the control plane needs this external name for itself.',
    next: 'Delete the claim and create it again with another external name.',
  },
  {
    ...notSynced,
    reason: 'ExternalNameTaken',
    on: managed,
    means:
      'The external resource exists and this object did not create it, or another object manages it; the message names that object. Nothing is changed.',
    next: 'Delete one of the two objects, let this one only observe, use another external name, or permit adoption with spec.adoptionPolicy.',
  },
  {
    ...notSynced,
    reason: 'ExternalNameForbidden',
    on: managed,
    means: 'The provider or the control plane needs this external name for itself. Nothing is changed.',
    next: 'Use another external name in a new claim.',
  },
  {
    ...notSynced,
    reason: 'ReconcilePaused',
    on: ['managed', 'query'],
    means: 'It is left alone: the annotation crossplane.io/paused is "true", or managementPolicies is empty.',
    next: 'crosstie resume, or give it policies.',
  },
  {
    ...notSynced,
    reason: 'AwaitingApproval',
    on: managed,
    means: 'Something is to be done that somebody has to approve; Approved says what.',
    next: 'Look at it with crosstie plan, then crosstie approve.',
  },
  {
    ...drifted,
    reason: 'NotAllowed',
    means: 'The external resource differs, and managementPolicies do not have Update. The message names the fields.',
    next: 'Add Update to managementPolicies, or make the spec say what is there.',
  },
  {
    ...drifted,
    reason: 'Ignored',
    means: 'The external resource differs in fields that ignoreChanges names.',
    next: 'Nothing, or take them out of ignoreChanges.',
  },
  {
    ...drifted,
    reason: 'Immutable',
    means: 'The external resource differs in fields that cannot change once it was made.',
    next: 'Put the spec back, or delete the object and make a new one.',
  },
  {
    ...drifted,
    reason: 'NotCorrected',
    means: 'The external resource differs, but the update sent no request. The message names the fields.',
    next: 'Change the fields with the tools of the provider, change the spec, or add them to ignoreChanges. Report it as a bug of the provider.',
  },
  {
    ...drifted,
    reason: 'UpdateLoop',
    means: 'Several updates did not remove the difference. Further ones are sent up to 16 poll intervals apart.',
    next: 'Find out what else changes the resource; let it (ignoreChanges), stop it, or change the spec. The annotation crossplane.io/reconcile-requested-at sends an update at once.',
  },
  {
    ...drifted,
    reason: 'AwaitingApproval',
    means: 'The external resource differs, and putting it right waits for approval.',
    next: 'crosstie plan, then crosstie approve.',
  },
  {
    ...inStep,
    reason: 'Corrected',
    means: 'The external resource differed and was put right. The message names the fields.',
    next: 'Find out who changes it, if it comes again.',
  },
  { ...inStep, reason: 'InStep', means: 'The external resource no longer differs.', next: nothing },
  {
    ...approved,
    reason: 'PlanApproved',
    means: 'The plan in the message was approved, and is executed.',
    next: nothing,
  },
  { ...approved, reason: 'NothingToApprove', means: 'Nothing waits for approval any longer.', next: nothing },
  {
    ...notApproved,
    reason: 'ApprovalRequired',
    means: 'Something is to be done that nobody approved; the message says what.',
    next: 'crosstie approve KIND/NAME shows it, and approves it with --yes.',
  },
  {
    ...notApproved,
    reason: 'StalePlan',
    means: 'Something moved since a plan was approved. Nothing was done; the message says what would be done now.',
    next: 'Look at the difference, and approve again if it is right.',
  },
  {
    type: 'ConnectionKeysUnique',
    status: 'False',
    reason: 'SeveralValues',
    on: ['aggregate'],
    means: 'Several parts publish the same connection key; the message says whose value is taken.',
    next: 'Give their classes the annotation aggregation.crossplane.io/connection-secret-prefix.',
  },
  {
    type: 'ConnectionKeysUnique',
    status: 'True',
    reason: 'Unique',
    on: ['aggregate'],
    means: 'Every connection key has one value again.',
    next: nothing,
  },
  { ...complete, reason: 'Answered', means: 'The answer is in the status.', next: 'Read it.' },
  {
    ...notComplete,
    reason: 'InProgress',
    means: 'The control plane works on the answer. Large plans wait for the limit on calls to the provider.',
    next: 'Wait.',
  },
  {
    ...notComplete,
    reason: 'Forbidden',
    means: 'The author of the request lacks a right that the change itself would need; the message names it.',
    next: 'Request less, or have an administrator grant the right.',
  },
  {
    ...notComplete,
    reason: 'IdentityNotVerified',
    means: 'The server does not verify who creates requests.',
    next: 'Install the admission policy that the message names, and create the request again.',
  },
  {
    ...notComplete,
    reason: 'InvalidRequest',
    means: 'The request cannot be understood; the message says why.',
    next: 'Correct it, and create another one.',
  },
  {
    ...notComplete,
    reason: 'NotFound',
    means: 'An object of the request does not exist.',
    next: 'Check the name, the kind and the namespace.',
  },
  {
    ...notComplete,
    reason: 'TooLarge',
    means: 'The answer does not fit into one object.',
    next: 'Request fewer objects at a time.',
  },
  {
    ...notComplete,
    reason: 'Failed',
    means: 'The answer could not be computed; the message says why.',
    next: 'Create another request once the cause is gone.',
  },
]
