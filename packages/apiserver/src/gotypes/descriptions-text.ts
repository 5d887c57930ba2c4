/**
 * Texts of `kubectl explain`. A line without indent holds a model and its description. The indented lines below
 * describe its fields. Models on one line share these fields.
 */
export const descriptions = `
core.v1.Namespace: A room for names: objects in different namespaces may be called the same.
  spec: How the namespace behaves.
  status: Where the namespace is in its life.
core.v1.NamespaceSpec: How a namespace behaves.
  finalizers: Who must clean up before the namespace can go.
core.v1.NamespaceStatus: Where a namespace is in its life.
  phase: Active, or Terminating once it is being deleted.
  conditions: What is known about its deletion.
core.v1.NamespaceCondition: One thing that is known about the deletion of a namespace.
core.v1.Secret: Confidential data such as passwords and keys, kept apart from what uses it. At most 1 MiB.
  data: The values by key, base64-encoded. Keys are letters, digits, '-', '_' and '.'.
  stringData: Values by key, as plain text. Only for writing: they are put into data and never shown.
  immutable: Once true, neither data nor this field can be changed.
  type: The type of the secret. Some types require certain keys. Default: Opaque.
core.v1.ConfigMap: Configuration data, kept apart from what uses it. At most 1 MiB.
  data: The values by key, as text.
  binaryData: More values by key, base64-encoded. No key may be in data too.
  immutable: Once true, neither the data nor this field can be changed.
core.v1.ServiceAccount: An identity for programs.
  secrets: Secrets that programs with this identity may use.
  imagePullSecrets: Secrets for fetching images.
  automountServiceAccountToken: Whether programs get a token of the account without asking.
core.v1.Event: Something that happened to an object. Events are kept for a limited time.
  involvedObject: What it happened to.
  reason: Why it happened, in one word for machines.
  message: What happened, in words for people.
  source: Who reported it; reportingComponent in newer events.
  firstTimestamp: When it first happened.
  lastTimestamp: When it last happened.
  count: How often it happened.
  type: Normal or Warning.
  eventTime: When it first happened, to the microsecond.
  series: Set when it keeps happening.
  action: What was done, or failed to be done, about the object.
  related: Another object that plays a part in it.
  reportingComponent: Who reported it, such as example.org/database-controller.
  reportingInstance: Which process of the reporter it was.
core.v1.EventSeries events.v1.EventSeries: An event that keeps happening.
  count: How often it happened up to the last heartbeat.
  lastObservedTime: When it was last seen.
core.v1.EventSource: Who reported an event.
  component: The program.
  host: Where it ran.
core.v1.LocalObjectReference: An object of a known kind in the same namespace.
core.v1.ObjectReference: Points at an object, or at a part of one.
  resourceVersion: At which revision, if that matters.
  fieldPath: Which part of it is meant, as a path such as spec.containers{name}.
events.v1.Event: Something that happened to an object. Events are kept for a limited time.
  eventTime: When it first happened.
  series: Set when it keeps happening.
  reportingController: Who reported it, such as example.org/database-controller.
  reportingInstance: Which process of the reporter it was.
  action: What was done, or failed to be done, about the object.
  reason: Why it happened, in one word for machines.
  regarding: What it happened to.
  related: Another object that plays a part in it.
  note: What happened, in words for people.
  type: Normal or Warning.
  deprecatedSource: Who reported it, in events from older clients.
  deprecatedFirstTimestamp: When it first happened, in events from older clients.
  deprecatedLastTimestamp: When it last happened, in events from older clients.
  deprecatedCount: How often it happened, in events from older clients.
coordination.v1.Lease: A claim that one of several holds for a while, such as being their leader.
  spec: Who holds it, and until when.
coordination.v1.LeaseSpec: Who holds a lease, and until when.
  holderIdentity: The identity of the current holder. Empty without a holder.
  leaseDurationSeconds: How long others must wait after renewTime before they may take it.
  acquireTime: When the holder took it.
  renewTime: When the holder last renewed it.
  leaseTransitions: How often it went from one holder to another.
  strategy: How a leader is chosen, if the server chooses.
  preferredHolder: Who should hold it instead, if the server chooses.
rbac.v1.Role: Permissions within one namespace.
  rules: What is permitted.
rbac.v1.ClusterRole: Permissions for the whole cluster, or for any namespace that binds it.
  rules: What is permitted.
  aggregationRule: Fills the rules from other cluster roles; what is in them is then overwritten.
rbac.v1.AggregationRule: From which cluster roles rules are gathered.
  clusterRoleSelectors: Roles that match any of these contribute their rules.
rbac.v1.RoleBinding: Grants a role, within one namespace, to users, groups or service accounts.
  subjects: Who is granted the role.
  roleRef: The role; a Role of the same namespace or a ClusterRole. It cannot be changed.
rbac.v1.ClusterRoleBinding: Grants a cluster role, everywhere, to users, groups or service accounts.
  subjects: Who is granted the role.
  roleRef: The cluster role. It cannot be changed.
rbac.v1.PolicyRule authorization.v1.ResourceRule: What may be done with which resources.
  verbs: Such as get, list, watch, create, update, patch, delete; * means all.
  apiGroups: The groups of the resources; "" is the core group, * means all.
  resources: Plurals such as secrets, subresources such as namespaces/status; * means all.
  resourceNames: Only objects of these names; empty means all.
  nonResourceURLs: Non-resource paths such as /healthz. A final * matches any suffix.
authorization.v1.NonResourceRule: What may be done at which paths.
  verbs: Such as get; * means all.
  nonResourceURLs: The paths; * at the end stands for anything.
rbac.v1.RoleRef: Names a role.
  apiGroup: The group of the role: rbac.authorization.k8s.io.
  kind: Role or ClusterRole.
rbac.v1.Subject: Who is granted a role.
  apiGroup: rbac.authorization.k8s.io for users and groups, empty for service accounts.
  kind: User, Group or ServiceAccount.
  namespace: Of a service account.
authentication.v1.TokenReview: Asks whom a token stands for.
authentication.v1.TokenReviewSpec: The question.
  token: The bearer token.
  audiences: For whom the token must be meant, one of them at least.
authentication.v1.TokenReviewStatus: The answer.
  authenticated: Whether the token is good.
  user: Whom it stands for.
  audiences: Which of the asked audiences it is meant for.
  error: Why it could not be checked.
authentication.v1.SelfSubjectReview: Asks who the asker is.
authentication.v1.SelfSubjectReviewStatus: The answer.
  userInfo: Who asked.
authentication.v1.UserInfo: A user as the server knows them.
  username: The name, unique among active users.
  uid: Tells users apart that have had the same name.
  groups: Groups the user belongs to.
  extra: More that the authenticator said.
authentication.v1.TokenRequest: Asks for a token of a service account.
authentication.v1.TokenRequestSpec: What the token should be like.
  audiences: For whom it is meant; the API server itself when empty.
  expirationSeconds: How long it should be good; the server may decide otherwise.
  boundObjectRef: The token ends with this object.
authentication.v1.TokenRequestStatus: The token.
  token: The token itself.
  expirationTimestamp: When it ends.
authentication.v1.BoundObjectReference: An object whose life limits that of a token.
authorization.v1.SubjectAccessReview: Checks whether a user may do something.
authorization.v1.LocalSubjectAccessReview: Checks whether a user may do something in one namespace.
authorization.v1.SelfSubjectAccessReview: Asks whether the asker may do something.
authorization.v1.SelfSubjectRulesReview: Asks for all that the asker may do in a namespace.
authorization.v1.SubjectAccessReviewSpec authorization.v1.SelfSubjectAccessReviewSpec: The question. Exactly one of the two kinds of attributes is set.
  resourceAttributes: What would be done with which resource.
  nonResourceAttributes: What would be done at which path.
  user: Who would do it.
  groups: The groups they are in.
  extra: More about them.
  uid: Their uid.
authorization.v1.SubjectAccessReviewStatus: The answer.
  allowed: Whether it is permitted.
  denied: Whether an authorizer explicitly denies it.
  reason: Why.
  evaluationError: What went wrong while deciding; an answer may be right nevertheless.
authorization.v1.SelfSubjectRulesReviewSpec: The question.
  namespace: The namespace in question.
authorization.v1.SubjectRulesReviewStatus: The answer.
  resourceRules: What may be done with resources, in no order.
  nonResourceRules: What may be done at other paths, in no order.
  incomplete: True when there may be more than is listed.
  evaluationError: What went wrong while gathering.
authorization.v1.ResourceAttributes: An access to a resource.
  namespace: Where; empty for all namespaces or none.
  verb: Such as get, list or create; * means all.
  group: The group of the resource; * means all.
  version: Its version; * means all.
  resource: Its plural; * means all.
  subresource: Such as status; empty for none.
  name: One object; empty for all.
  fieldSelector: Select objects by fields.
  labelSelector: Select objects by labels.
authorization.v1.NonResourceAttributes: An access to a path.
  path: The path.
  verb: The method, in lower case.
authorization.v1.FieldSelectorAttributes authorization.v1.LabelSelectorAttributes: A selector, as text or taken apart. Not both.
  rawSelector: As text, the way it stands in a URL.
  requirements: Taken apart; all must hold.
autoscaling.v1.Scale: How many there should be, and are.
autoscaling.v1.ScaleSpec: How many there should be.
  replicas: How many are wanted.
autoscaling.v1.ScaleStatus: How many there are.
  replicas: How many there are.
  selector: Which ones are counted, as text.
`
