import type { KubeObject } from '@crosstie/kube'
import type { Binding } from '../definition/claim.js'
import { identityOf } from '../managed/ownership/identity.js'
import { externalNameOf } from '../metadata/metadata.js'
import type { BindingRuntime } from './runtime.js'

/** An object to provision for a claim. */
export interface Wanted {
  readonly binding: Binding
  readonly object: KubeObject
}

/** A claim requests an external name that another managed resource has. */
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
 * Rejects an external name that another managed resource already has (CLM7). This check provides an early error.
 * The reservation of the name prevents conflicts that are not visible here (decision 27). The message does not name
 * the owner, who may be another tenant.
 *
 * @throws NameTakenError
 */
export async function refuseTakenNames(runtime: BindingRuntime, wanted: readonly Wanted[]): Promise<void> {
  for (const { binding, object } of wanted) {
    const { managed } = binding
    // A generated name cannot be taken. If `identifiedBy` is set, the identity may depend on references that are
    // not resolved yet.
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
