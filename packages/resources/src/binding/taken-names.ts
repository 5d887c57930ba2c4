import type { KubeObject } from '@crosstie/kube'
import type { Binding } from '../definition/claim.js'
import { identityOf } from '../managed/ownership/identity.js'
import { externalNameOf } from '../metadata/metadata.js'
import type { BindingRuntime } from './runtime.js'

/** What is to be provisioned for a claim. */
export interface Wanted {
  readonly binding: Binding
  readonly object: KubeObject
}

/** A claim asks for an external name that another managed resource has. */
export class NameTakenError extends Error {
  override readonly name = 'NameTakenError'

  constructor(externalName: string, kind: string) {
    super(
      `external name "${externalName}" is taken by another ${kind}. Delete this claim and create it again with another ` +
        'name in the annotation crossplane.io/external-name',
    )
  }
}

/**
 * Refuses to give a claim the external resource that another object stands for already (CLM7). This is for a quick
 * answer: what was not seen here is stopped by the reservation of the name (decision 27). The message does not say whose
 * the name is, since that may be another tenant.
 *
 * @throws NameTakenError
 */
export async function refuseTakenNames(runtime: BindingRuntime, wanted: readonly Wanted[]): Promise<void> {
  for (const { binding, object } of wanted) {
    const { managed } = binding
    // The object's own name was generated for it. Where references are part of the identity, they are not resolved yet.
    if (externalNameOf(object) === '' || managed.identifiedBy) continue
    const identity = identityOf(managed, object)
    if (!identity) continue
    const ofKind = wanted.filter((other) => other.binding.managed === managed).map((other) => other.object)
    const others = [...(await runtime.find(managed.type, {})), ...ofKind]
    const isTaken = others.some(
      (other) => other.metadata.name !== object.metadata.name && identityOf(managed, other)?.key === identity.key,
    )
    if (isTaken) throw new NameTakenError(identity.externalName, managed.type.kind)
  }
}
