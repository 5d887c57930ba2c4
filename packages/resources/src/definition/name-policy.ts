import type { KubeObject } from '@crosstie/kube'
import type { ManagedKind } from './managed.js'

/**
 * Refuses at admission to remove or change the external name of an object whose external resource exists (XN1). Rules of a
 * CRD cannot read annotations, so this is a ValidatingAdmissionPolicy, which every Kubernetes from 1.30 on and the embedded
 * server evaluate. It needs no identity of the controllers: the first name is free, a write that records a step of a
 * create may change the name, and so may one that brings the name that the status records.
 */

const NAME = 'crossplane.io/external-name'
/** A CEL expression for the value of an annotation. */
export const noteOf = (object: string, name: string): string =>
  `${object}.metadata.?annotations[?'${name}'].orValue('')`

const steps = {
  pending: 'external-create-pending',
  succeeded: 'external-create-succeeded',
  failed: 'external-create-failed',
}

/** A create succeeded, or is under way. One that failed leaves the name free. */
const created = [
  "variables.recorded != ''",
  "(variables.succeeded != '' && variables.succeeded >= variables.pending)",
  '(variables.pending > variables.succeeded && variables.pending > variables.failed)',
].join(' || ')

/** Such a write names what a create is about to create or has created. */
const recordsCreate = Object.entries(steps)
  .map(([variable, note]) => `${noteOf('object', `crossplane.io/${note}`)} > variables.${variable}`)
  .join(' || ')

const message = [
  "object.kind + ' ' + object.metadata.name + ': the annotation crossplane.io/external-name holds the name ' + variables.name",
  "' of the external resource of this object and can be neither removed nor changed. Nothing was written.'",
  "' Use kubectl apply instead of kubectl replace, or add the annotation to the manifest.'",
  "' To manage another external resource, create another object.'",
].join(' + ')

export const ADMISSION_GROUP = 'admissionregistration.k8s.io'

/** The policy for the kinds of one provider, and the binding that puts it into effect. */
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
      // Evaluated first, so that all other writes cost one comparison.
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
  const binding: KubeObject = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  }
  return [policy, binding]
}

/** Rules that match writes to managed kinds, one for each API group. */
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
