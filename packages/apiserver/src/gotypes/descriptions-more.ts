/** As descriptions-text.ts: extension kinds and shared models. */
export const moreDescriptions = `
apiextensions.v1.CustomResourceDefinition: Adds a kind to the API. Its name must be PLURAL.GROUP.
  spec: What the kind is like.
  status: What the server made of it.
apiextensions.v1.CustomResourceDefinitionSpec: What a custom kind is like.
  group: The API group of the kind; it is served at /apis/GROUP.
  names: How the kind is called.
  scope: Namespaced, or Cluster for objects outside of namespaces.
  versions: The versions of the kind. Exactly one is the storage version.
  conversion: How objects go from one version to another.
  preserveUnknownFields: Must be false; use x-kubernetes-preserve-unknown-fields in the schema.
apiextensions.v1.CustomResourceDefinitionStatus: What the server made of a definition.
  conditions: Whether the names are accepted and the kind is served.
  acceptedNames: The names that are in use; they can differ while names conflict.
  storedVersions: Every version in which objects may be stored. Remove one only after migrating them.
apiextensions.v1.CustomResourceDefinitionCondition: One thing that is known about a definition.
apiextensions.v1.CustomResourceDefinitionNames: How a kind is called.
  plural: The name in URLs: all lower case.
  singular: For one of them; the kind in lower case when left out.
  shortNames: Short forms for the command line.
  kind: The kind in objects, such as Database.
  listKind: The kind of lists; KINDList when left out.
  categories: Groups such as all, for asking for several kinds at once.
apiextensions.v1.CustomResourceDefinitionVersion: One version of a kind.
  name: Such as v1 or v1beta1.
  served: Whether it can be asked for.
  storage: Whether objects are stored in it.
  deprecated: Whether its use gives a warning.
  deprecationWarning: The warning, in other words than the usual ones.
  schema: What objects may look like.
  subresources: Which further endpoints objects have.
  additionalPrinterColumns: What get shows beside the name; the age when empty.
  selectableFields: Fields that field selectors may use. At most eight.
apiextensions.v1.CustomResourceColumnDefinition: A column of get.
  name: The title.
  type: integer, number, string, boolean or date.
  format: Says more about the type; name marks the column that identifies.
  description: What is shown.
  priority: Above zero, it is shown with -o wide only.
  jsonPath: Where the value is, such as .spec.replicas.
apiextensions.v1.CustomResourceConversion: How objects go from one version to another.
  strategy: None changes the apiVersion only, Webhook asks.
  webhook: Whom to ask, if the strategy is Webhook.
apiextensions.v1.WebhookConversion: Converts objects by asking a webhook.
  clientConfig: Where the webhook is.
  conversionReviewVersions: Versions of ConversionReview it understands, preferred first.
apiextensions.v1.WebhookClientConfig admissionregistration.v1.WebhookClientConfig: Where a webhook is: exactly one of url and service.
  url: Its https URL, without user, query or fragment.
  service: The service it runs behind.
  caBundle: Certificates that its own is checked with, as PEM; the system's when empty.
apiextensions.v1.ServiceReference admissionregistration.v1.ServiceReference: A service and where to call it.
  path: The path to call.
  port: The port; 443 when left out.
apiextensions.v1.CustomResourceSubresources: Which further endpoints objects have.
  status: Gives the status an endpoint of its own; the main one then ignores it.
  scale: Gives the number of replicas an endpoint that autoscalers understand.
apiextensions.v1.CustomResourceSubresourceStatus: Nothing to say: that it is there is enough.
apiextensions.v1.CustomResourceSubresourceScale: Where the fields of the scale endpoint are.
  specReplicasPath: The wanted number, below .spec.
  statusReplicasPath: The number there is, below .status.
  labelSelectorPath: A label selector as text, below .spec or .status.
apiextensions.v1.CustomResourceValidation: What objects may look like.
  openAPIV3Schema: The schema.
apiextensions.v1.SelectableField: A field that field selectors may use.
  jsonPath: Where it is, such as .spec.color; text, number or boolean, not in a list.
apiextensions.v1.ValidationRule: A rule in CEL that objects must follow.
  rule: The expression; self is the value it stands at, oldSelf the one before.
  message: What to say when it is false.
  messageExpression: An expression that makes the message.
  reason: The reason that is reported.
  fieldPath: The field that is blamed, below the value.
  optionalOldSelf: Makes oldSelf optional, so that the rule runs on create, too.
apiextensions.v1.ExternalDocumentation: Where to read more.
  url: The address.
apiextensions.v1.JSONSchemaProps: A JSON schema, as far as custom kinds may use it.
  id: Not allowed in definitions.
  $schema: Not allowed in definitions.
  $ref: Not allowed in definitions.
  description: What the value is for.
  type: object, array, string, integer, number or boolean.
  format: What kind of text or number it is, such as date-time; unknown ones are ignored.
  title: A short name.
  default: Filled in when the field is missing.
  maximum: The greatest number allowed.
  exclusiveMaximum: Whether maximum itself is too great.
  minimum: The least number allowed.
  exclusiveMinimum: Whether minimum itself is too small.
  maxLength: How many characters a text may have.
  minLength: How many characters a text must have.
  pattern: A regular expression (RE2) that text must match.
  maxItems: How many items a list may have.
  minItems: How many items a list must have.
  uniqueItems: Must not be true; use x-kubernetes-list-type set.
  multipleOf: Of what a number must be a multiple.
  enum: The values allowed.
  maxProperties: How many keys an object may have.
  minProperties: How many keys an object must have.
  required: Fields that must be there.
  items: What the items of a list look like.
  allOf: All of these must hold, too.
  oneOf: Exactly one of these must hold, too.
  anyOf: At least one of these must hold, too.
  not: This must not hold.
  properties: What the fields look like, by name.
  additionalProperties: What the values of all other keys look like.
  patternProperties: Not allowed in definitions.
  dependencies: Not allowed in definitions.
  additionalItems: Not allowed in definitions.
  definitions: Not allowed in definitions.
  externalDocs: Where to read more.
  example: What a value can look like.
  nullable: Whether null is allowed.
  x-kubernetes-preserve-unknown-fields: Keeps fields that the schema does not name.
  x-kubernetes-embedded-resource: The value is an object with apiVersion, kind and metadata.
  x-kubernetes-int-or-string: The value is an integer or text.
  x-kubernetes-list-map-keys: Which fields identify an item of a list of type map.
  x-kubernetes-list-type: atomic (default), set, or map: how lists are merged.
  x-kubernetes-map-type: granular (default) or atomic: how objects are merged.
  x-kubernetes-validations: Rules in CEL.
admissionregistration.v1.ValidatingWebhookConfiguration: Webhooks that accept or refuse requests and change nothing.
  webhooks: The webhooks.
admissionregistration.v1.MutatingWebhookConfiguration: Webhooks that accept, refuse or change objects.
  webhooks: The webhooks.
admissionregistration.v1.ValidatingWebhook admissionregistration.v1.MutatingWebhook: A webhook and what it wants to be asked about.
  name: A domain name such as check.example.org, unique in the configuration.
  clientConfig: Where it is.
  rules: Which requests it is asked about.
  failurePolicy: What to do when it does not answer: Fail (default) or Ignore.
  matchPolicy: Exact, or Equivalent (default) to be asked about other versions of a resource, too.
  namespaceSelector: Only for objects in namespaces whose labels match.
  objectSelector: Only for objects whose labels match, before or after.
  sideEffects: None or NoneOnDryRun: whether being asked changes anything elsewhere.
  timeoutSeconds: How long to wait, 1 to 30; 10 when left out.
  admissionReviewVersions: Versions of AdmissionReview it understands, preferred first.
  reinvocationPolicy: IfNeeded asks again when others changed the object, Never (default) does not.
  matchConditions: Expressions that must all be true for it to be asked. At most 64.
admissionregistration.v1.MatchCondition: An expression that decides whether a webhook or policy applies.
  name: Tells conditions apart.
  expression: In CEL, with object, oldObject, request and authorizer; must be true or false.
admissionregistration.v1.RuleWithOperations admissionregistration.v1.NamedRuleWithOperations: Which requests are meant.
  resourceNames: Only objects of these names; empty means all.
  operations: CREATE, UPDATE, DELETE, CONNECT, or * alone.
  apiGroups: The groups of the resources, or * alone.
  apiVersions: Their versions, or * alone.
  resources: Plurals such as pods, subresources such as pods/log, with * for any.
  scope: Cluster, Namespaced, or * (default).
admissionregistration.v1.MatchResources: Which requests are meant.
  namespaceSelector: Only objects in namespaces whose labels match.
  objectSelector: Only objects whose labels match, before or after.
  resourceRules: Requests that match any of these are meant.
  excludeResourceRules: Requests that match any of these are not.
  matchPolicy: Exact, or Equivalent (default) to match other versions of a resource, too.
admissionregistration.v1.ValidatingAdmissionPolicy: Rules in CEL that requests must follow where the policy is bound.
  spec: The rules.
  status: What the server found out about the rules.
admissionregistration.v1.ValidatingAdmissionPolicySpec: The rules of a policy.
  paramKind: The kind of the parameters that rules can use.
  matchConstraints: Which requests the policy is about.
  validations: The rules.
  failurePolicy: What to do when a rule cannot be evaluated: Fail (default) or Ignore.
  auditAnnotations: What to add to the audit log. At most 20.
  matchConditions: Expressions that must all be true for the policy to be used. At most 64.
  variables: Expressions with names, for use in those that follow.
admissionregistration.v1.ValidatingAdmissionPolicyStatus: What the server found out about a policy.
  observedGeneration: Which generation of the policy this is about.
  typeChecking: Doubts about the types in expressions.
  conditions: What is known about the policy.
admissionregistration.v1.TypeChecking: Doubts about the types in expressions.
  expressionWarnings: One for each expression in doubt.
admissionregistration.v1.ExpressionWarning: A doubt about an expression.
  fieldRef: Where the expression is.
  warning: The doubt.
admissionregistration.v1.Validation: A rule of a policy.
  expression: In CEL; must be true. It can use object, oldObject, request, params, variables, authorizer.
  message: What to say when it is false.
  messageExpression: An expression that makes the message.
  reason: The reason that is reported; Invalid when left out.
admissionregistration.v1.Variable: An expression with a name.
  name: The name: variables.NAME in expressions.
  expression: In CEL.
admissionregistration.v1.AuditAnnotation: Something to add to the audit log.
  key: The key; the name of the policy is put before it.
  valueExpression: In CEL; text, or null for nothing.
admissionregistration.v1.ParamKind: The kind of a policy's parameters.
admissionregistration.v1.ValidatingAdmissionPolicyBinding: Puts a policy to use.
  spec: Which policy, where, and with which parameters.
admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec: Which policy is used where.
  policyName: The policy.
  paramRef: Its parameters.
  matchResources: Narrows the requests that the policy is about.
  validationActions: What a false rule does: Deny, Warn or Audit; not Deny and Warn.
admissionregistration.v1.ParamRef: Which objects are the parameters: exactly one of name and selector.
  namespace: Where they are; that of the request when empty.
  selector: Those whose labels match.
  parameterNotFoundAction: The action when no parameter object exists: Allow or Deny.
meta.v1.ObjectMeta: What every object has: name, labels, owners and the like.
  name: The name, unique among the objects of its kind in the same namespace. It cannot be changed.
  generateName: The prefix of a generated name, used when there is no name. Five random characters follow.
  namespace: Where the object is. It cannot be changed.
  selfLink: No longer used.
  uid: Tells objects apart that have had the same name. Set by the server.
  resourceVersion: Changes with every write. Sent with an update, it must be the present one. Set by the server.
  generation: Grows when what is wanted changes. Set by the server.
  creationTimestamp: CreationTimestamp is a timestamp that the server sets when it makes the object.
  deletionTimestamp: When deletion began; the object goes once its finalizers have. Set by the server.
  deletionGracePeriodSeconds: How long the object may take to end. Set by the server.
  labels: Short texts by key, for selecting objects.
  annotations: Texts by key, for anything else.
  ownerReferences: Objects this one depends on: when all are gone, it goes, too.
  finalizers: Who must clean up before the object can go. Each removes its own.
  managedFields: Which fields were last written by whom. Kept by the server.
meta.v1.OwnerReference: An object that another one depends on, in the same namespace or in none.
  controller: Whether this owner manages the object. At most one does.
  blockOwnerDeletion: Whether the owner waits for the object when deleted in the foreground.
meta.v1.ManagedFieldsEntry: Fields that were last written by one manager.
  manager: Who.
  operation: Apply, or Update for all other writes.
  time: When fields were added, changed or given up.
  fieldsType: FieldsV1.
  fieldsV1: The fields.
  subresource: Through which endpoint, such as status.
meta.v1.ListMeta: Where a list stands.
  selfLink: No longer used.
  resourceVersion: The revision at which the list was read; a watch can begin there.
  continue: Ask with this for the next page.
  remainingItemCount: How many objects are on later pages, if that is known.
meta.v1.LabelSelector: Which objects are meant, by their labels. All that is said must hold; nothing said means all.
  matchLabels: Labels with exactly these values.
  matchExpressions: More about labels.
meta.v1.LabelSelectorRequirement meta.v1.FieldSelectorRequirement: One demand.
  key: Which label or field.
  operator: In, NotIn, Exists or DoesNotExist.
  values: The values for In and NotIn; none otherwise.
meta.v1.Condition: One thing that is known about an object.
  observedGeneration: Which generation of the object this is about.
meta.v1.DeleteOptions: How to delete.
  gracePeriodSeconds: The grace period of the deletion in seconds. Zero deletes at once.
  preconditions: What must hold, or nothing is deleted.
  orphanDependents: Deprecated: use propagationPolicy.
  propagationPolicy: Orphan keeps dependents, Background deletes them later, Foreground before.
  dryRun: All: do everything but delete.
  ignoreStoreReadErrorWithClusterBreakingPotential: Delete objects that cannot be read from storage, too.
meta.v1.Preconditions: What must hold for a write.
  uid: The object must have this uid.
  resourceVersion: The object must have this revision.
meta.v1.Status: How a request went.
  status: Success or Failure.
  message: What happened, in words.
  reason: Why it failed, in one word for machines.
  details: More about it.
  code: The HTTP status.
meta.v1.StatusDetails: More about a failure.
  name: The object in question.
  group: Its group.
  kind: Its kind or plural.
  causes: What was wrong, one by one.
  retryAfterSeconds: When to try again.
meta.v1.StatusCause: One thing that was wrong.
  reason: What kind of thing, for machines.
  message: What it was, in words.
  field: Where it was.
meta.v1.WatchEvent: A change, as a watch tells it.
  type: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
  object: The object after the change; before it, if it was deleted.
`
