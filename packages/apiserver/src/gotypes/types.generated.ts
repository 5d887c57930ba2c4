// Written by scripts/kinds. Do not edit.

/** Go types by OpenAPI model name; a line per field: name, type, number in protobuf, flags, facts. */
export const goTypes: Readonly<Record<string, string>> = {
  'io.k8s.api.admissionregistration.v1.AuditAnnotation':
    "v1.AuditAnnotation\nkey string 1 -r\nvalueExpression string 2 -r",
  'io.k8s.api.admissionregistration.v1.ExpressionWarning':
    "v1.ExpressionWarning\nfieldRef string 2 -r\nwarning string 3 -r",
  'io.k8s.api.admissionregistration.v1.MatchCondition':
    "v1.MatchCondition\nname string 1 -r\nexpression string 2 -r",
  'io.k8s.api.admissionregistration.v1.MatchResources':
    "v1.MatchResources {\"map\":\"atomic\"}\nnamespaceSelector ?@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector 1 -o\nobjectSelector ?@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector 2 -o\nresourceRules []@io.k8s.api.admissionregistration.v1.NamedRuleWithOperations 3 -o {\"list\":\"atomic\"}\nexcludeResourceRules []@io.k8s.api.admissionregistration.v1.NamedRuleWithOperations 4 -o {\"list\":\"atomic\"}\nmatchPolicy ?v1.MatchPolicyType=string 7 -o {\"enum\":[\"Equivalent\",\"Exact\"]}",
  'io.k8s.api.admissionregistration.v1.MutatingWebhook':
    "v1.MutatingWebhook\nname string 1 -r\nclientConfig @io.k8s.api.admissionregistration.v1.WebhookClientConfig 2 -r\nrules []@io.k8s.api.admissionregistration.v1.RuleWithOperations 3 -o {\"list\":\"atomic\"}\nfailurePolicy ?v1.FailurePolicyType=string 4 -o {\"enum\":[\"Fail\",\"Ignore\"]}\nmatchPolicy ?v1.MatchPolicyType=string 9 -o {\"enum\":[\"Equivalent\",\"Exact\"]}\nnamespaceSelector ?@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector 5 -o\nobjectSelector ?@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector 11 -o\nsideEffects ?v1.SideEffectClass=string 6 -r {\"enum\":[\"None\",\"NoneOnDryRun\",\"Some\",\"Unknown\"]}\ntimeoutSeconds ?int32 7 -o {\"format\":\"int32\"}\nadmissionReviewVersions []string 8 -r {\"list\":\"atomic\"}\nreinvocationPolicy ?v1.ReinvocationPolicyType=string 10 -o\nmatchConditions []@io.k8s.api.admissionregistration.v1.MatchCondition 12 -o {\"keys\":[\"name\"],\"list\":\"map\",\"mergeKey\":\"name\",\"strategy\":\"merge\"}",
  'io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration':
    "v1.MutatingWebhookConfiguration\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nwebhooks []@io.k8s.api.admissionregistration.v1.MutatingWebhook 2 -o {\"keys\":[\"name\"],\"list\":\"map\",\"mergeKey\":\"name\",\"strategy\":\"merge\"}",
  'io.k8s.api.admissionregistration.v1.NamedRuleWithOperations':
    "v1.NamedRuleWithOperations {\"map\":\"atomic\"}\nresourceNames []string 1 -o {\"list\":\"atomic\"}\noperations []v1.OperationType=string 2.1 -o {\"list\":\"atomic\"}\napiGroups []string 2.2.1 -o {\"list\":\"atomic\"}\napiVersions []string 2.2.2 -o {\"list\":\"atomic\"}\nresources []string 2.2.3 -o {\"list\":\"atomic\"}\nscope ?v1.ScopeType=string 2.2.4 -o",
  'io.k8s.api.admissionregistration.v1.ParamKind':
    "v1.ParamKind {\"map\":\"atomic\"}\napiVersion string 1 -o\nkind string 2 -o",
  'io.k8s.api.admissionregistration.v1.ParamRef':
    "v1.ParamRef {\"map\":\"atomic\"}\nname string 1 -o\nnamespace string 2 -o\nselector ?@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector 3 -o\nparameterNotFoundAction ?v1.ParameterNotFoundActionType=string 4 -o",
  'io.k8s.api.admissionregistration.v1.RuleWithOperations':
    "v1.RuleWithOperations\noperations []v1.OperationType=string 1 -o {\"list\":\"atomic\"}\napiGroups []string 2.1 -o {\"list\":\"atomic\"}\napiVersions []string 2.2 -o {\"list\":\"atomic\"}\nresources []string 2.3 -o {\"list\":\"atomic\"}\nscope ?v1.ScopeType=string 2.4 -o",
  'io.k8s.api.admissionregistration.v1.ServiceReference':
    "v1.ServiceReference\nnamespace string 1 -r\nname string 2 -r\npath ?string 3 -o\nport ?int32 4 -o {\"format\":\"int32\"}",
  'io.k8s.api.admissionregistration.v1.TypeChecking':
    "v1.TypeChecking\nexpressionWarnings []@io.k8s.api.admissionregistration.v1.ExpressionWarning 1 -o {\"list\":\"atomic\"}",
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy':
    "v1.ValidatingAdmissionPolicy\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec 2 -o\nstatus @io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus 3 -o",
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding':
    "v1.ValidatingAdmissionPolicyBinding\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec 2 -o",
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec':
    "v1.ValidatingAdmissionPolicyBindingSpec\npolicyName string 1 -o\nparamRef ?@io.k8s.api.admissionregistration.v1.ParamRef 2 -o\nmatchResources ?@io.k8s.api.admissionregistration.v1.MatchResources 3 -o\nvalidationActions []v1.ValidationAction=string 4 -o {\"list\":\"set\"}",
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec':
    "v1.ValidatingAdmissionPolicySpec\nparamKind ?@io.k8s.api.admissionregistration.v1.ParamKind 1 -o\nmatchConstraints ?@io.k8s.api.admissionregistration.v1.MatchResources 2 -o\nvalidations []@io.k8s.api.admissionregistration.v1.Validation 3 -o {\"list\":\"atomic\"}\nfailurePolicy ?v1.FailurePolicyType=string 4 -o {\"enum\":[\"Fail\",\"Ignore\"]}\nauditAnnotations []@io.k8s.api.admissionregistration.v1.AuditAnnotation 5 -o {\"list\":\"atomic\"}\nmatchConditions []@io.k8s.api.admissionregistration.v1.MatchCondition 6 -o {\"keys\":[\"name\"],\"list\":\"map\",\"mergeKey\":\"name\",\"strategy\":\"merge\"}\nvariables []@io.k8s.api.admissionregistration.v1.Variable 7 -o {\"keys\":[\"name\"],\"list\":\"map\",\"mergeKey\":\"name\",\"strategy\":\"merge\"}",
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus':
    "v1.ValidatingAdmissionPolicyStatus\nobservedGeneration int64 1 -o {\"format\":\"int64\"}\ntypeChecking ?@io.k8s.api.admissionregistration.v1.TypeChecking 2 -o\nconditions []@io.k8s.apimachinery.pkg.apis.meta.v1.Condition 3 -o {\"keys\":[\"type\"],\"list\":\"map\"}",
  'io.k8s.api.admissionregistration.v1.ValidatingWebhook':
    "v1.ValidatingWebhook\nname string 1 -r\nclientConfig @io.k8s.api.admissionregistration.v1.WebhookClientConfig 2 -r\nrules []@io.k8s.api.admissionregistration.v1.RuleWithOperations 3 -o {\"list\":\"atomic\"}\nfailurePolicy ?v1.FailurePolicyType=string 4 -o {\"enum\":[\"Fail\",\"Ignore\"]}\nmatchPolicy ?v1.MatchPolicyType=string 9 -o {\"enum\":[\"Equivalent\",\"Exact\"]}\nnamespaceSelector ?@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector 5 -o\nobjectSelector ?@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector 10 -o\nsideEffects ?v1.SideEffectClass=string 6 -r {\"enum\":[\"None\",\"NoneOnDryRun\",\"Some\",\"Unknown\"]}\ntimeoutSeconds ?int32 7 -o {\"format\":\"int32\"}\nadmissionReviewVersions []string 8 -r {\"list\":\"atomic\"}\nmatchConditions []@io.k8s.api.admissionregistration.v1.MatchCondition 11 -o {\"keys\":[\"name\"],\"list\":\"map\",\"mergeKey\":\"name\",\"strategy\":\"merge\"}",
  'io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration':
    "v1.ValidatingWebhookConfiguration\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nwebhooks []@io.k8s.api.admissionregistration.v1.ValidatingWebhook 2 -o {\"keys\":[\"name\"],\"list\":\"map\",\"mergeKey\":\"name\",\"strategy\":\"merge\"}",
  'io.k8s.api.admissionregistration.v1.Validation':
    "v1.Validation\nexpression string 1 -r\nmessage string 2 -o\nreason ?v1.StatusReason=string 3 -o\nmessageExpression string 4 -o",
  'io.k8s.api.admissionregistration.v1.Variable':
    "v1.Variable {\"map\":\"atomic\"}\nname string 1 -r\nexpression string 2 -r",
  'io.k8s.api.admissionregistration.v1.WebhookClientConfig':
    "v1.WebhookClientConfig\nurl ?string 3 -o\nservice ?@io.k8s.api.admissionregistration.v1.ServiceReference 1 -o\ncaBundle bytes 2 -o {\"format\":\"byte\"}",
  'io.k8s.api.authentication.v1.BoundObjectReference':
    "v1.BoundObjectReference\nkind string 1 -o\napiVersion string 2 -o\nname string 3 -o\nuid types.UID=string 4 -o",
  'io.k8s.api.authentication.v1.SelfSubjectReview':
    "v1.SelfSubjectReview\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nstatus @io.k8s.api.authentication.v1.SelfSubjectReviewStatus 2 -o",
  'io.k8s.api.authentication.v1.SelfSubjectReviewStatus':
    "v1.SelfSubjectReviewStatus\nuserInfo @io.k8s.api.authentication.v1.UserInfo 1 -o",
  'io.k8s.api.authentication.v1.TokenRequest':
    "v1.TokenRequest\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.authentication.v1.TokenRequestSpec 2 -r\nstatus @io.k8s.api.authentication.v1.TokenRequestStatus 3 -o",
  'io.k8s.api.authentication.v1.TokenRequestSpec':
    "v1.TokenRequestSpec\naudiences []string 1 -r {\"list\":\"atomic\"}\nexpirationSeconds ?int64 4 - {\"format\":\"int64\"}\nboundObjectRef ?@io.k8s.api.authentication.v1.BoundObjectReference 3 -",
  'io.k8s.api.authentication.v1.TokenRequestStatus':
    "v1.TokenRequestStatus\ntoken string 1 -r\nexpirationTimestamp !Time 2 -r",
  'io.k8s.api.authentication.v1.TokenReview':
    "v1.TokenReview\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.authentication.v1.TokenReviewSpec 2 -r\nstatus @io.k8s.api.authentication.v1.TokenReviewStatus 3 -o",
  'io.k8s.api.authentication.v1.TokenReviewSpec':
    "v1.TokenReviewSpec\ntoken string 1 -o\naudiences []string 2 -o {\"list\":\"atomic\"}",
  'io.k8s.api.authentication.v1.TokenReviewStatus':
    "v1.TokenReviewStatus\nauthenticated bool 1 -o\nuser @io.k8s.api.authentication.v1.UserInfo 2 -o\naudiences []string 4 -o {\"list\":\"atomic\"}\nerror string 3 -o",
  'io.k8s.api.authentication.v1.UserInfo':
    "v1.UserInfo\nusername string 1 -o\nuid string 2 -o\ngroups []string 3 -o {\"list\":\"atomic\"}\nextra {}v1.ExtraValue=[]string 4 -o",
  'io.k8s.api.authorization.v1.FieldSelectorAttributes':
    "v1.FieldSelectorAttributes\nrawSelector string 1 -o\nrequirements []@io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement 2 -o {\"list\":\"atomic\"}",
  'io.k8s.api.authorization.v1.LabelSelectorAttributes':
    "v1.LabelSelectorAttributes\nrawSelector string 1 -o\nrequirements []@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement 2 -o {\"list\":\"atomic\"}",
  'io.k8s.api.authorization.v1.LocalSubjectAccessReview':
    "v1.LocalSubjectAccessReview\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.authorization.v1.SubjectAccessReviewSpec 2 -r\nstatus @io.k8s.api.authorization.v1.SubjectAccessReviewStatus 3 -o",
  'io.k8s.api.authorization.v1.NonResourceAttributes':
    "v1.NonResourceAttributes\npath string 1 -o\nverb string 2 -o",
  'io.k8s.api.authorization.v1.NonResourceRule':
    "v1.NonResourceRule\nverbs []string 1 -r {\"list\":\"atomic\"}\nnonResourceURLs []string 2 -o {\"list\":\"atomic\"}",
  'io.k8s.api.authorization.v1.ResourceAttributes':
    "v1.ResourceAttributes\nnamespace string 1 -o\nverb string 2 -o\ngroup string 3 -o\nversion string 4 -o\nresource string 5 -o\nsubresource string 6 -o\nname string 7 -o\nfieldSelector ?@io.k8s.api.authorization.v1.FieldSelectorAttributes 8 -o\nlabelSelector ?@io.k8s.api.authorization.v1.LabelSelectorAttributes 9 -o",
  'io.k8s.api.authorization.v1.ResourceRule':
    "v1.ResourceRule\nverbs []string 1 -r {\"list\":\"atomic\"}\napiGroups []string 2 -o {\"list\":\"atomic\"}\nresources []string 3 -o {\"list\":\"atomic\"}\nresourceNames []string 4 -o {\"list\":\"atomic\"}",
  'io.k8s.api.authorization.v1.SelfSubjectAccessReview':
    "v1.SelfSubjectAccessReview\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec 2 -r\nstatus @io.k8s.api.authorization.v1.SubjectAccessReviewStatus 3 -o",
  'io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec':
    "v1.SelfSubjectAccessReviewSpec\nresourceAttributes ?@io.k8s.api.authorization.v1.ResourceAttributes 1 -o\nnonResourceAttributes ?@io.k8s.api.authorization.v1.NonResourceAttributes 2 -o",
  'io.k8s.api.authorization.v1.SelfSubjectRulesReview':
    "v1.SelfSubjectRulesReview\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec 2 -r\nstatus @io.k8s.api.authorization.v1.SubjectRulesReviewStatus 3 -o",
  'io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec':
    "v1.SelfSubjectRulesReviewSpec\nnamespace string 1 -o",
  'io.k8s.api.authorization.v1.SubjectAccessReview':
    "v1.SubjectAccessReview\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.authorization.v1.SubjectAccessReviewSpec 2 -r\nstatus @io.k8s.api.authorization.v1.SubjectAccessReviewStatus 3 -o",
  'io.k8s.api.authorization.v1.SubjectAccessReviewSpec':
    "v1.SubjectAccessReviewSpec\nresourceAttributes ?@io.k8s.api.authorization.v1.ResourceAttributes 1 -o\nnonResourceAttributes ?@io.k8s.api.authorization.v1.NonResourceAttributes 2 -o\nuser string 3 -o\ngroups []string 4 -o {\"list\":\"atomic\"}\nextra {}v1.ExtraValue=[]string 5 -o\nuid string 6 -o",
  'io.k8s.api.authorization.v1.SubjectAccessReviewStatus':
    "v1.SubjectAccessReviewStatus\nallowed bool 1 -r\ndenied bool 4 -o\nreason string 2 -o\nevaluationError string 3 -o",
  'io.k8s.api.authorization.v1.SubjectRulesReviewStatus':
    "v1.SubjectRulesReviewStatus\nresourceRules []@io.k8s.api.authorization.v1.ResourceRule 1 -r {\"list\":\"atomic\"}\nnonResourceRules []@io.k8s.api.authorization.v1.NonResourceRule 2 -r {\"list\":\"atomic\"}\nincomplete bool 3 -r\nevaluationError string 4 -o",
  'io.k8s.api.autoscaling.v1.Scale':
    "v1.Scale\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.autoscaling.v1.ScaleSpec 2 -o\nstatus @io.k8s.api.autoscaling.v1.ScaleStatus 3 -o",
  'io.k8s.api.autoscaling.v1.ScaleSpec':
    "v1.ScaleSpec\nreplicas int32 1 -o {\"format\":\"int32\"}",
  'io.k8s.api.autoscaling.v1.ScaleStatus':
    "v1.ScaleStatus\nreplicas int32 1 -r {\"format\":\"int32\"}\nselector string 2 -o",
  'io.k8s.api.coordination.v1.Lease':
    "v1.Lease\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.coordination.v1.LeaseSpec 2 -o",
  'io.k8s.api.coordination.v1.LeaseSpec':
    "v1.LeaseSpec\nholderIdentity ?string 1 -o\nleaseDurationSeconds ?int32 2 -o {\"format\":\"int32\"}\nacquireTime ?!MicroTime 3 -o\nrenewTime ?!MicroTime 4 -o\nleaseTransitions ?int32 5 -o {\"format\":\"int32\"}\nstrategy ?v1.CoordinatedLeaseStrategy=string 6 -o\npreferredHolder ?string 7 -o",
  'io.k8s.api.core.v1.ConfigMap':
    "v1.ConfigMap\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nimmutable ?bool 4 -o\ndata {}string 2 -o\nbinaryData {}bytes 3 -o",
  'io.k8s.api.core.v1.Event':
    "v1.Event\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -r\ninvolvedObject @io.k8s.api.core.v1.ObjectReference 2 -r\nreason string 3 -o\nmessage string 4 -o\nsource @io.k8s.api.core.v1.EventSource 5 -o\nfirstTimestamp !Time 6 -o\nlastTimestamp !Time 7 -o\ncount int32 8 -o {\"format\":\"int32\"}\ntype string 9 -o\neventTime !MicroTime 10 -o\nseries ?@io.k8s.api.core.v1.EventSeries 11 -o\naction string 12 -o\nrelated ?@io.k8s.api.core.v1.ObjectReference 13 -o\nreportingComponent string 14 -\nreportingInstance string 15 -",
  'io.k8s.api.core.v1.EventSeries':
    "v1.EventSeries\ncount int32 1 -o {\"format\":\"int32\"}\nlastObservedTime !MicroTime 2 -o",
  'io.k8s.api.core.v1.EventSource':
    "v1.EventSource\ncomponent string 1 -o\nhost string 2 -o",
  'io.k8s.api.core.v1.LocalObjectReference':
    "v1.LocalObjectReference {\"map\":\"atomic\"}\nname string 1 -o",
  'io.k8s.api.core.v1.Namespace':
    "v1.Namespace\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.api.core.v1.NamespaceSpec 2 -o\nstatus @io.k8s.api.core.v1.NamespaceStatus 3 -o",
  'io.k8s.api.core.v1.NamespaceCondition':
    "v1.NamespaceCondition\ntype v1.NamespaceConditionType=string 1 -r\nstatus v1.ConditionStatus=string 2 -r\nlastTransitionTime !Time 4 -o\nreason string 5 -o\nmessage string 6 -o",
  'io.k8s.api.core.v1.NamespaceSpec':
    "v1.NamespaceSpec\nfinalizers []v1.FinalizerName=string 1 -o {\"list\":\"atomic\"}",
  'io.k8s.api.core.v1.NamespaceStatus':
    "v1.NamespaceStatus\nphase v1.NamespacePhase=string 1 -o {\"enum\":[\"Active\",\"Terminating\"]}\nconditions []@io.k8s.api.core.v1.NamespaceCondition 2 -o {\"keys\":[\"type\"],\"list\":\"map\",\"mergeKey\":\"type\",\"strategy\":\"merge\"}",
  'io.k8s.api.core.v1.ObjectReference':
    "v1.ObjectReference {\"map\":\"atomic\"}\nkind string 1 -o\nnamespace string 2 -o\nname string 3 -o\nuid types.UID=string 4 -o\napiVersion string 5 -o\nresourceVersion string 6 -o\nfieldPath string 7 -o",
  'io.k8s.api.core.v1.Secret':
    "v1.Secret\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nimmutable ?bool 5 -o\ndata {}bytes 2 -o\nstringData {}string 4 -o\ntype v1.SecretType=string 3 -o",
  'io.k8s.api.core.v1.ServiceAccount':
    "v1.ServiceAccount\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nsecrets []@io.k8s.api.core.v1.ObjectReference 2 -o {\"keys\":[\"name\"],\"list\":\"map\",\"mergeKey\":\"name\",\"strategy\":\"merge\"}\nimagePullSecrets []@io.k8s.api.core.v1.LocalObjectReference 3 -o {\"list\":\"atomic\"}\nautomountServiceAccountToken ?bool 4 -o",
  'io.k8s.api.events.v1.Event':
    "v1.Event\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -\neventTime !MicroTime 2 -r\nseries ?@io.k8s.api.events.v1.EventSeries 3 -o\nreportingController string 4 -o\nreportingInstance string 5 -o\naction string 6 -o\nreason string 7 -o\nregarding @io.k8s.api.core.v1.ObjectReference 8 -o\nrelated ?@io.k8s.api.core.v1.ObjectReference 9 -o\nnote string 10 -o\ntype string 11 -o\ndeprecatedSource @io.k8s.api.core.v1.EventSource 12 -o\ndeprecatedFirstTimestamp !Time 13 -o\ndeprecatedLastTimestamp !Time 14 -o\ndeprecatedCount int32 15 -o {\"format\":\"int32\"}",
  'io.k8s.api.events.v1.EventSeries':
    "v1.EventSeries\ncount int32 1 -r {\"format\":\"int32\"}\nlastObservedTime !MicroTime 2 -r",
  'io.k8s.api.rbac.v1.AggregationRule':
    "v1.AggregationRule\nclusterRoleSelectors []@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector 1 -o {\"list\":\"atomic\"}",
  'io.k8s.api.rbac.v1.ClusterRole':
    "v1.ClusterRole\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nrules []@io.k8s.api.rbac.v1.PolicyRule 2 - {\"list\":\"atomic\"}\naggregationRule ?@io.k8s.api.rbac.v1.AggregationRule 3 -o",
  'io.k8s.api.rbac.v1.ClusterRoleBinding':
    "v1.ClusterRoleBinding\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nsubjects []@io.k8s.api.rbac.v1.Subject 2 -o {\"list\":\"atomic\"}\nroleRef @io.k8s.api.rbac.v1.RoleRef 3 -r",
  'io.k8s.api.rbac.v1.PolicyRule':
    "v1.PolicyRule\nverbs []string 1 -r {\"list\":\"atomic\"}\napiGroups []string 2 -o {\"list\":\"atomic\"}\nresources []string 3 -o {\"list\":\"atomic\"}\nresourceNames []string 4 -o {\"list\":\"atomic\"}\nnonResourceURLs []string 5 -o {\"list\":\"atomic\"}",
  'io.k8s.api.rbac.v1.Role':
    "v1.Role\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nrules []@io.k8s.api.rbac.v1.PolicyRule 2 - {\"list\":\"atomic\"}",
  'io.k8s.api.rbac.v1.RoleBinding':
    "v1.RoleBinding\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nsubjects []@io.k8s.api.rbac.v1.Subject 2 -o {\"list\":\"atomic\"}\nroleRef @io.k8s.api.rbac.v1.RoleRef 3 -r",
  'io.k8s.api.rbac.v1.RoleRef':
    "v1.RoleRef {\"map\":\"atomic\"}\napiGroup string 1 -r\nkind string 2 -r\nname string 3 -r",
  'io.k8s.api.rbac.v1.Subject':
    "v1.Subject {\"map\":\"atomic\"}\nkind string 1 -r\napiGroup string 2 -o\nname string 3 -r\nnamespace string 4 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition':
    "v1.CustomResourceColumnDefinition\nname string 1 -r\ntype string 2 -r\nformat string 3 -o\ndescription string 4 -o\npriority int32 5 -o {\"format\":\"int32\"}\njsonPath string 6 -r",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion':
    "v1.CustomResourceConversion\nstrategy v1.ConversionStrategyType=string 1 -r\nwebhook ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion 2 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition':
    "v1.CustomResourceDefinition\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o\nspec @io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec 2 -r\nstatus @io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus 3 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition':
    "v1.CustomResourceDefinitionCondition\ntype v1.CustomResourceDefinitionConditionType=string 1 -r\nstatus v1.ConditionStatus=string 2 -r\nlastTransitionTime !Time 3 -o\nreason string 4 -o\nmessage string 5 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames':
    "v1.CustomResourceDefinitionNames\nplural string 1 -r\nsingular string 2 -o\nshortNames []string 3 -o {\"list\":\"atomic\"}\nkind string 4 -r\nlistKind string 5 -o\ncategories []string 6 -o {\"list\":\"atomic\"}",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec':
    "v1.CustomResourceDefinitionSpec\ngroup string 1 -r\nnames @io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames 3 -r\nscope v1.ResourceScope=string 4 -r\nversions []@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion 7 -r {\"list\":\"atomic\"}\nconversion ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion 9 -o\npreserveUnknownFields bool 10 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus':
    "v1.CustomResourceDefinitionStatus\nconditions []@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition 1 - {\"keys\":[\"type\"],\"list\":\"map\"}\nacceptedNames @io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames 2 -\nstoredVersions []string 3 - {\"list\":\"atomic\"}",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion':
    "v1.CustomResourceDefinitionVersion\nname string 1 -r\nserved bool 2 -r\nstorage bool 3 -r\ndeprecated bool 7 -o\ndeprecationWarning ?string 8 -o\nschema ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation 4 -o\nsubresources ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources 5 -o\nadditionalPrinterColumns []@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition 6 -o {\"list\":\"atomic\"}\nselectableFields []@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField 9 -o {\"list\":\"atomic\"}",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale':
    "v1.CustomResourceSubresourceScale\nspecReplicasPath string 1 -r\nstatusReplicasPath string 2 -r\nlabelSelectorPath ?string 3 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus':
    "v1.CustomResourceSubresourceStatus",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources':
    "v1.CustomResourceSubresources\nstatus ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus 1 -o\nscale ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale 2 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation':
    "v1.CustomResourceValidation\nopenAPIV3Schema ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps 1 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation':
    "v1.ExternalDocumentation\ndescription string 1 -o\nurl string 2 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps':
    "v1.JSONSchemaProps\nid string 1 -o\n$schema v1.JSONSchemaURL=string 2 -o\n$ref ?string 3 -o\ndescription string 4 -o\ntype string 5 -o\nformat string 6 -o\ntitle string 7 -o\ndefault ?!JSON 8 -o\nmaximum ?float64 9 -o {\"format\":\"double\"}\nexclusiveMaximum bool 10 -o\nminimum ?float64 11 -o {\"format\":\"double\"}\nexclusiveMinimum bool 12 -o\nmaxLength ?int64 13 -o {\"format\":\"int64\"}\nminLength ?int64 14 -o {\"format\":\"int64\"}\npattern string 15 -o\nmaxItems ?int64 16 -o {\"format\":\"int64\"}\nminItems ?int64 17 -o {\"format\":\"int64\"}\nuniqueItems bool 18 -o\nmultipleOf ?float64 19 -o {\"format\":\"double\"}\nenum []!JSON 20 -o {\"list\":\"atomic\"}\nmaxProperties ?int64 21 -o {\"format\":\"int64\"}\nminProperties ?int64 22 -o {\"format\":\"int64\"}\nrequired []string 23 -o {\"list\":\"atomic\"}\nitems ?!JSONSchemaPropsOrArray 24 -o\nallOf []@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps 25 -o {\"list\":\"atomic\"}\noneOf []@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps 26 -o {\"list\":\"atomic\"}\nanyOf []@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps 27 -o {\"list\":\"atomic\"}\nnot ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps 28 -o\nproperties {}@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps 29 -o\nadditionalProperties ?!JSONSchemaPropsOrBool 30 -o\npatternProperties {}@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps 31 -o\ndependencies v1.JSONSchemaDependencies={}!JSONSchemaPropsOrStringArray 32 -o\nadditionalItems ?!JSONSchemaPropsOrBool 33 -o\ndefinitions v1.JSONSchemaDefinitions={}@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps 34 -o\nexternalDocs ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation 35 -o\nexample ?!JSON 36 -o\nnullable bool 37 -o\nx-kubernetes-preserve-unknown-fields ?bool 38 -o\nx-kubernetes-embedded-resource bool 39 -o\nx-kubernetes-int-or-string bool 40 -o\nx-kubernetes-list-map-keys []string 41 -o {\"list\":\"atomic\"}\nx-kubernetes-list-type ?string 42 -o\nx-kubernetes-map-type ?string 43 -o\nx-kubernetes-validations v1.ValidationRules=[]@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule 44 -o {\"keys\":[\"rule\"],\"list\":\"map\",\"mergeKey\":\"rule\",\"strategy\":\"merge\"}",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField':
    "v1.SelectableField\njsonPath string 1 -r",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference':
    "v1.ServiceReference\nnamespace string 1 -r\nname string 2 -r\npath ?string 3 -o\nport ?int32 4 -o {\"format\":\"int32\"}",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule':
    "v1.ValidationRule\nrule string 1 -r\nmessage string 2 -o\nmessageExpression string 3 -o\nreason ?v1.FieldValueErrorReason=string 4 -o {\"enum\":[\"FieldValueDuplicate\",\"FieldValueForbidden\",\"FieldValueInvalid\",\"FieldValueRequired\"]}\nfieldPath string 5 -o\noptionalOldSelf ?bool 6 -o",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig':
    "v1.WebhookClientConfig\nurl ?string 3 -o\nservice ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference 1 -o\ncaBundle bytes 2 -o {\"format\":\"byte\"}",
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion':
    "v1.WebhookConversion\nclientConfig ?@io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig 2 -o\nconversionReviewVersions []string 3 -r {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup':
    "v1.APIGroup\nkind string 0 -o\napiVersion string 0 -o\nname string 1 -r\nversions []@io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery 2 -r {\"list\":\"atomic\"}\npreferredVersion @io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery 3 -o\nserverAddressByClientCIDRs []@io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR 4 -o {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList':
    "v1.APIGroupList\nkind string 0 -o\napiVersion string 0 -o\ngroups []@io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup 1 -r {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIResource':
    "v1.APIResource\nname string 1 -r\nsingularName string 6 -r\nnamespaced bool 2 -r\ngroup string 8 -o\nversion string 9 -o\nkind string 3 -r\nverbs v1.Verbs=[]string 4 -r\nshortNames []string 5 -o {\"list\":\"atomic\"}\ncategories []string 7 -o {\"list\":\"atomic\"}\nstorageVersionHash string 10 -o",
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList':
    "v1.APIResourceList\nkind string 0 -o\napiVersion string 0 -o\ngroupVersion string 1 -r\nresources []@io.k8s.apimachinery.pkg.apis.meta.v1.APIResource 2 -r {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions':
    "v1.APIVersions\nkind string 0 -o\napiVersion string 0 -o\nversions []string 1 -r {\"list\":\"atomic\"}\nserverAddressByClientCIDRs []@io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR 2 -r {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.Condition':
    "v1.Condition\ntype string 1 -r\nstatus v1.ConditionStatus=string 2 -r\nobservedGeneration int64 3 -o {\"format\":\"int64\"}\nlastTransitionTime !Time 4 -r\nreason string 5 -r\nmessage string 6 -r",
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions':
    "v1.DeleteOptions\nkind string 0 -o\napiVersion string 0 -o\ngracePeriodSeconds ?int64 1 -o {\"format\":\"int64\"}\npreconditions ?@io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions 2 -o\norphanDependents ?bool 3 -o\npropagationPolicy ?v1.DeletionPropagation=string 4 -o\ndryRun []string 5 -o {\"list\":\"atomic\"}\nignoreStoreReadErrorWithClusterBreakingPotential ?bool 6 -o",
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement':
    "v1.FieldSelectorRequirement\nkey string 1 -r\noperator v1.FieldSelectorOperator=string 2 -r\nvalues []string 3 -o {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery':
    "v1.GroupVersionForDiscovery\ngroupVersion string 1 -r\nversion string 2 -r",
  'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector':
    "v1.LabelSelector {\"map\":\"atomic\"}\nmatchLabels {}string 1 -o\nmatchExpressions []@io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement 2 -o {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement':
    "v1.LabelSelectorRequirement\nkey string 1 -r\noperator v1.LabelSelectorOperator=string 2 -r\nvalues []string 3 -o {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta':
    "v1.ListMeta\nselfLink string 1 -o\nresourceVersion string 2 -o\ncontinue string 3 -o\nremainingItemCount ?int64 4 -o {\"format\":\"int64\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry':
    "v1.ManagedFieldsEntry\nmanager string 1 -o\noperation v1.ManagedFieldsOperationType=string 2 -o\napiVersion string 3 -o\ntime ?!Time 4 -o\nfieldsType string 6 -o\nfieldsV1 ?!FieldsV1 7 -o\nsubresource string 8 -o",
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta':
    "v1.ObjectMeta\nname string 1 -o\ngenerateName string 2 -o\nnamespace string 3 -o\nselfLink string 4 -o\nuid types.UID=string 5 -o\nresourceVersion string 6 -o\ngeneration int64 7 -o {\"format\":\"int64\"}\ncreationTimestamp !Time 8 -oz\ndeletionTimestamp ?!Time 9 -o\ndeletionGracePeriodSeconds ?int64 10 -o {\"format\":\"int64\"}\nlabels {}string 11 -o\nannotations {}string 12 -o\nownerReferences []@io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference 13 -o {\"keys\":[\"uid\"],\"list\":\"map\",\"mergeKey\":\"uid\",\"strategy\":\"merge\"}\nfinalizers []string 14 -o {\"list\":\"set\",\"strategy\":\"merge\"}\nmanagedFields []@io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry 17 -o {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference':
    "v1.OwnerReference {\"map\":\"atomic\"}\napiVersion string 5 -r\nkind string 1 -r\nname string 3 -r\nuid types.UID=string 4 -r\ncontroller ?bool 6 -o\nblockOwnerDeletion ?bool 7 -o",
  'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata':
    "v1.PartialObjectMetadata\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta 1 -o",
  'io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions':
    "v1.Preconditions\nuid ?types.UID=string 1 -o\nresourceVersion ?string 2 -o",
  'io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR':
    "v1.ServerAddressByClientCIDR\nclientCIDR string 1 -r\nserverAddress string 2 -r",
  'io.k8s.apimachinery.pkg.apis.meta.v1.Status':
    "v1.Status\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta 1 -o\nstatus string 2 -o\nmessage string 3 -o\nreason v1.StatusReason=string 4 -o\ndetails ?@io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails 5 -o {\"list\":\"atomic\"}\ncode int32 6 -o {\"format\":\"int32\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause':
    "v1.StatusCause\nreason v1.CauseType=string 1 -o\nmessage string 2 -o\nfield string 3 -o",
  'io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails':
    "v1.StatusDetails\nname string 1 -o\ngroup string 2 -o\nkind string 3 -o\nuid types.UID=string 6 -o\ncauses []@io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause 4 -o {\"list\":\"atomic\"}\nretryAfterSeconds int32 5 -o {\"format\":\"int32\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.Table':
    "v1.Table\nkind string 0 -o\napiVersion string 0 -o\nmetadata @io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta 0 -o\ncolumnDefinitions []@io.k8s.apimachinery.pkg.apis.meta.v1.TableColumnDefinition 0 -r {\"list\":\"atomic\"}\nrows []@io.k8s.apimachinery.pkg.apis.meta.v1.TableRow 0 -r {\"list\":\"atomic\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.TableColumnDefinition':
    "v1.TableColumnDefinition\nname string 0 -r\ntype string 0 -r\nformat string 0 -r\ndescription string 0 -r\npriority int32 0 -r {\"format\":\"int32\"}",
  'io.k8s.apimachinery.pkg.apis.meta.v1.TableRow':
    "v1.TableRow\ncells []any 0 -r {\"list\":\"atomic\"}\nconditions []@io.k8s.apimachinery.pkg.apis.meta.v1.TableRowCondition 0 -o {\"list\":\"atomic\"}\nobject !RawExtension 0 -o",
  'io.k8s.apimachinery.pkg.apis.meta.v1.TableRowCondition':
    "v1.TableRowCondition\ntype v1.RowConditionType=string 0 -r\nstatus v1.ConditionStatus=string 0 -r\nreason string 0 -o\nmessage string 0 -o",
  'io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent':
    "v1.WatchEvent\ntype string 1 -r\nobject !RawExtension 2 -r",
}
