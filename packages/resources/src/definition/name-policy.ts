import type { KubeObject } from '@crosstie/kube'
import type { ManagedKind } from './managed.js'

/**
 * The policy denies requests that remove or change the external name of an object whose external resource exists
 * (XN1). CRD validation rules cannot read annotations, so it is a ValidatingAdmissionPolicy, which Kubernetes 1.30
 * and later and the embedded server evaluate. It does not depend on the identity of the controllers. A request may
 * set the first name, change the name while it records a step of a create, or restore the name that the status
 * records.
 */

const NAME = 'crossplane.io/external-name'
/** Returns a CEL expression for the value of an annotation. */
export const noteOf = (object: string, name: string): string =>
  `${object}.metadata.?annotations[?'${name}'].orValue('')`

const steps = {
  pending: 'external-create-pending',
  succeeded: 'external-create-succeeded',
  failed: 'external-create-failed',
}

/** A CEL expression: a create succeeded or is in progress. After a failed create the name can be changed. */
const created = [
  "variables.recorded != ''",
  "(variables.succeeded != '' && variables.succeeded >= variables.pending)",
  '(variables.pending > variables.succeeded && variables.pending > variables.failed)',
].join(' || ')

/** A CEL expression: the request records the start or the result of a create. */
const recordsCreate = Object.entries(steps)
  .map(([variable, note]) => `${noteOf('object', `crossplane.io/${note}`)} > variables.${variable}`)
  .join(' || ')

const message = [
  "object.kind + ' ' + object.metadata.name + ': the annotation crossplane.io/external-name holds the name ' + variables.name",
  "' of the external resource of this object and can be neither removed nor changed. Nothing was written.'",
  "' Use kubectl apply instead of kubectl replace, or add the annotation to the manifest.'",
  "' To manage another external resource, create another object.'",
].join(' + ')

/** The API group of admission policies. */
export const ADMISSION_GROUP = 'admissionregistration.k8s.io'

/** Returns the policy for the kinds of one provider, and the binding that enables it. */
export function externalNamePolicy(provider: string, kinds: readonly ManagedKind[]): readonly KubeObject[] {
  const name = `crosstie-external-names-${provider}`
  const apiVersion = `${ADMISSION_GROUP}/v1`
  const resourceRules = resourceRulesOf(kinds, ['UPDATE'])
  const changed = `${noteOf('object', NAME)} != ${noteOf('oldObject', NAME)}`
  const policy: KubeObject = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules },
      // Match conditions are evaluated first, so all other writes cost one comparison.
      matchConditions: [{ name: 'external-name-changes', expression: changed }],
      variables: [
        { name: 'name', expression: noteOf('oldObject', NAME) },
        { name: 'recorded', expression: "oldObject.?status.?externalName.orValue('')" },
        ...Object.entries(steps).map(([variable, note]) => ({
          name: variable,
          expression: noteOf('oldObject', `crossplane.io/${note}`),
        })),
        { name: 'created', expression: created },
      ],
      validations: [
        {
          expression: [
            "variables.name == ''",
            '!variables.created',
            `(variables.recorded != '' && ${noteOf('object', NAME)} == variables.recorded)`,
            recordsCreate,
          ].join(' || '),
          message:
            'the annotation crossplane.io/external-name of an existing external resource cannot be removed or changed',
          messageExpression: message,
        },
      ],
    },
  }
  return [policy, denyBinding(name)]
}

/** Returns the binding that enforces the admission policy of the same name. */
export const denyBinding = (name: string): KubeObject => ({
  apiVersion: `${ADMISSION_GROUP}/v1`,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName: name, validationActions: ['Deny'] },
})

/** Returns rules that match writes to managed kinds, one for each API group. */
export function resourceRulesOf(kinds: readonly ManagedKind[], operations: readonly string[]): readonly object[] {
  const groups = [...new Set(kinds.map(({ type }) => type.group))].sort()
  return groups.map((group) => ({
    apiGroups: [group],
    apiVersions: ['*'],
    operations,
    resources: kinds.filter(({ type }) => type.group === group).map(({ type }) => type.resource),
    scope: '*',
  }))
}
