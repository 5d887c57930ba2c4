/** The reasons of conditions and events, with their meaning and the next step. The reference page is generated from them. */

type On = 'managed' | 'claim' | 'aggregate' | 'query' | 'ProviderConfig'
interface Explained {
  readonly reason: string
  /** Which objects have it. */
  readonly on: readonly On[]
  readonly means: string
  readonly next: string
}

export interface ConditionReason extends Explained {
  readonly type: 'Ready' | 'Synced' | 'Drifted' | 'Approved' | 'ConnectionKeysUnique'
  readonly status: 'True' | 'False'
}

export interface EventReason extends Explained {
  readonly type: 'Normal' | 'Warning'
}

const managed: readonly On[] = ['managed']
const everybody: readonly On[] = ['managed', 'claim', 'aggregate', 'query']
const nothing = 'Nothing.'
const ready = { type: 'Ready', status: 'True' } as const
const notReady = { type: 'Ready', status: 'False' } as const
const synced = { type: 'Synced', status: 'True' } as const
const notSynced = { type: 'Synced', status: 'False' } as const
const drifted = { type: 'Drifted', status: 'True', on: managed } as const
const inStep = { type: 'Drifted', status: 'False', on: managed } as const
const approved = { type: 'Approved', status: 'True', on: managed } as const
const notApproved = { type: 'Approved', status: 'False', on: managed } as const
export const conditionReasons: readonly ConditionReason[] = [
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
]

const normal = { type: 'Normal' } as const
const warning = { type: 'Warning' } as const

export const eventReasons: readonly EventReason[] = [
  { ...normal, reason: 'CreatedExternalResource', on: managed, means: 'The provider took the create.', next: nothing },
  {
    ...normal,
    reason: 'UpdatedExternalResource',
    on: managed,
    means: 'The provider took the update; the message names the fields.',
    next: nothing,
  },
  { ...normal, reason: 'DeletedExternalResource', on: managed, means: 'The provider took the delete.', next: nothing },
  {
    ...normal,
    reason: 'PendingExternalResource',
    on: managed,
    means: 'What was just made may not be visible yet: it is waited for, so that it is not made twice.',
    next: 'Wait.',
  },
  {
    ...normal,
    reason: 'ReconciliationPaused',
    on: managed,
    means: 'It is left alone from now on.',
    next: 'crosstie resume, or give it policies.',
  },
  {
    ...normal,
    reason: 'ReconcileRequestHandled',
    on: managed,
    means: 'The annotation crossplane.io/reconcile-requested-at was seen, and it is looked at now.',
    next: nothing,
  },
  {
    ...warning,
    reason: 'ExternalNameRestored',
    on: managed,
    means:
      'The annotation crossplane.io/external-name of an existing external resource was removed or changed, and was restored.',
    next: 'Keep the annotation in manifests that replace the object, or use kubectl apply. Create another object to manage another external resource.',
  },
  {
    ...warning,
    reason: 'ExternalNameLost',
    on: managed,
    means: 'The condition Synced with the same reason says more.',
    next: 'As the condition says.',
  },
  {
    ...warning,
    reason: 'CannotConnectToProvider',
    on: managed,
    means: 'The ProviderConfig or its credentials cannot be read, or the provider does not take them.',
    next: 'Look at the ProviderConfig that providerConfigRef names, and at its Secret.',
  },
  {
    ...warning,
    reason: 'CannotDisconnectFromProvider',
    on: managed,
    means: 'A connection could not be closed. The work itself was done.',
    next: 'Nothing, unless it comes often.',
  },
  {
    ...warning,
    reason: 'CannotObserveExternalResource',
    on: managed,
    means: 'The external resource cannot be looked at, or does not exist and may not be created.',
    next: 'Check external name, region and rights; or add Create to managementPolicies.',
  },
  {
    ...warning,
    reason: 'CannotCreateExternalResource',
    on: managed,
    means: 'The provider refused the create; the message is its own.',
    next: 'Mend what the provider complains about. It is tried again by itself.',
  },
  {
    ...warning,
    reason: 'ExternalNameTaken',
    on: ['managed', 'claim'],
    means:
      'The external resource exists and this object did not create it, or another object manages it. Nothing is changed.',
    next: 'See the condition of the same reason.',
  },
  {
    ...warning,
    reason: 'ExternalNameForbidden',
    on: ['managed', 'claim'],
    means: 'The provider or the control plane needs this external name for itself.',
    next: 'Use another external name in a new claim.',
  },
  {
    ...warning,
    reason: 'CannotReserveExternalName',
    on: managed,
    means: 'The ExternalNameReservation cannot be written or read. Nothing is changed until it is.',
    next: 'Check that the CRD externalnamereservations.crosstie.io is installed, and the rights of the controllers.',
  },
  {
    ...warning,
    reason: 'CannotReleaseExternalName',
    on: managed,
    means: 'The ExternalNameReservation of a deleted object could not be deleted.',
    next: 'Nothing: garbage collection, or the next object that needs the name, removes it.',
  },
  {
    ...warning,
    reason: 'CannotUpdateExternalResource',
    on: managed,
    means: 'The provider refused the update; the message is its own.',
    next: 'Mend what the provider complains about. It is tried again by itself.',
  },
  {
    ...warning,
    reason: 'CannotDeleteExternalResource',
    on: managed,
    means: 'The provider refused the delete; the message is its own.',
    next: 'Often something else still uses it. It is tried again by itself.',
  },
  {
    ...warning,
    reason: 'CannotInitializeManagedResource',
    on: managed,
    means: 'The external name cannot be noted, or nobody can tell what an interrupted creation made.',
    next: 'Look with the tools of the provider whether it was made; the message says which annotation to remove then.',
  },
  {
    ...warning,
    reason: 'CannotUpdateManagedResource',
    on: managed,
    means: 'The object itself cannot be written.',
    next: 'Look for webhooks and policies that refuse it, and at the rights of the controllers.',
  },
  {
    ...warning,
    reason: 'CannotResolveResourceReferences',
    on: managed,
    means: 'What a reference or a selector leads to is not there, or has no value yet.',
    next: 'Create it, or wait until it is ready: it is seen at once.',
  },
  {
    ...warning,
    reason: 'CannotPublishConnectionDetails',
    on: managed,
    means: 'The connection Secret cannot be written, or belongs to somebody else.',
    next: 'Name another Secret in writeConnectionSecretToRef, or remove the one that is in the way.',
  },
  {
    ...warning,
    reason: 'CannotUseInvalidManagementPolicy',
    on: managed,
    means: 'managementPolicies have a combination that the provider cannot keep.',
    next: 'Choose another; the message says why this one is refused.',
  },
  {
    ...warning,
    reason: 'FieldIgnored',
    on: managed,
    means: 'A field is set whose feature is turned off.',
    next: 'Turn the feature on, or take the field out.',
  },
  {
    ...warning,
    reason: 'FieldDeprecated',
    on: managed,
    means: 'A field is set that is on its way out.',
    next: 'crosstie migrate writes it in new words.',
  },
  {
    ...warning,
    reason: 'DriftDetected',
    on: managed,
    means: 'The external resource differs and is left so; the message says why and where.',
    next: 'crosstie drift; the condition Drifted tells what to do.',
  },
  {
    ...warning,
    reason: 'ApprovalRequired',
    on: managed,
    means: 'Something is to be done that nobody approved.',
    next: 'crosstie plan, then crosstie approve.',
  },
  {
    ...warning,
    reason: 'StalePlan',
    on: managed,
    means: 'Something moved since a plan was approved, and nothing was done.',
    next: 'Look at the difference, and approve again if it is right.',
  },
  {
    ...normal,
    reason: 'ChoseClass',
    on: ['claim'],
    means: 'The claim is met by this class; the message says why.',
    next: nothing,
  },
  {
    ...warning,
    reason: 'SeveralClasses',
    on: ['claim'],
    means: 'More than one class would do; one was taken.',
    next: 'Name one in classRef, or have only one default class.',
  },
  { ...normal, reason: 'Provisioned', on: ['claim'], means: 'An object was made to meet the claim.', next: nothing },
  { ...normal, reason: 'BoundToResource', on: ['claim'], means: 'The claim has what meets it.', next: nothing },
  {
    ...normal,
    reason: 'BoundToClaim',
    on: ['managed', 'aggregate'],
    means: 'It belongs to this claim, and to no other.',
    next: nothing,
  },
  {
    ...normal,
    reason: 'BoundToAggregate',
    on: managed,
    means: 'It is a part of this aggregate, and of no other.',
    next: nothing,
  },
  { ...normal, reason: 'Aggregated', on: ['aggregate'], means: 'It has one part more.', next: nothing },
  {
    ...normal,
    reason: 'PropagatedConnection',
    on: ['claim'],
    means: 'The connection details are in the Secret of the claim.',
    next: nothing,
  },
  {
    ...normal,
    reason: 'Released',
    on: ['managed', 'aggregate'],
    means: 'Its claim is gone; reclaimPolicy Retain keeps it.',
    next: 'Delete it, or have another claim refer to it, when it is clear that nobody needs what is in it.',
  },
  {
    ...normal,
    reason: 'Reclaimed',
    on: ['managed', 'aggregate'],
    means: 'Its claim is gone; reclaimPolicy Delete deletes it too.',
    next: nothing,
  },
  {
    ...warning,
    reason: 'LostResource',
    on: ['claim'],
    means: 'What met the claim is gone.',
    next: 'Delete the claim and make a new one, or restore what is gone under the same name.',
  },
  {
    ...warning,
    reason: 'CannotReconcileClaim',
    on: ['claim', 'aggregate'],
    means: 'The last turn failed; the message says at what.',
    next: 'Mend what the message names. It is tried again by itself.',
  },
  {
    ...warning,
    reason: 'ConnectionKeyConflict',
    on: ['aggregate'],
    means: 'Several parts publish the same connection key.',
    next: 'Give their classes the annotation aggregation.crossplane.io/connection-secret-prefix.',
  },
  {
    ...warning,
    reason: 'CircularReferences',
    on: ['aggregate'],
    means: 'Its parts refer to each other in a circle, so that there is no order to delete them in.',
    next: 'Delete a part of the circle by hand; the message names it.',
  },
  {
    ...warning,
    reason: 'CannotRefresh',
    on: ['query'],
    means: 'The query cannot be answered now. What it found before stays.',
    next: 'Mend the filter or the ProviderConfig that the message names.',
  },
  {
    ...warning,
    reason: 'InUse',
    on: ['ProviderConfig'],
    means: 'It was deleted, but managed resources still use it: it stays until they are gone.',
    next: 'Delete those, or have them use another; ProviderConfigUsages list them.',
  },
]
