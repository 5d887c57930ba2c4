import { equal, type KubeObject, type OwnerReference } from '@crosstie/kube'
import type { WriteRequest } from '../serving/request.js'

/**
 * Returns the object without duplicate owner references, and adds a warning for duplicates. kube-apiserver removes
 * them from the bodies of create and update, and from every object after mutating admission.
 */
export function withoutDuplicateOwners(request: WriteRequest, object: KubeObject, afterMutation: boolean): KubeObject {
  const references = object.metadata.ownerReferences
  if (!Array.isArray(references) || references.length < 2) return object
  const { unique, duplicates } = split(references)
  if (duplicates.length === 0) return object
  const when = afterMutation ? ' after mutating admission happens' : ''
  request.warnings.push(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  )
  return { ...object, metadata: { ...object.metadata, ownerReferences: unique } }
}

function split(references: readonly OwnerReference[]): { unique: OwnerReference[]; duplicates: string[] } {
  const unique: OwnerReference[] = []
  const duplicates: string[] = []
  const byUid = new Map<string, OwnerReference[]>()
  for (const reference of references) {
    const known = byUid.get(reference.uid)
    if (known?.some((one) => equal(one, reference))) duplicates.push(reference.uid)
    else {
      unique.push(reference)
      if (known) known.push(reference)
      else byUid.set(reference.uid, [reference])
    }
  }
  return { unique, duplicates }
}
