import { equal, findFieldValue, type KubeObject } from '@crosstie/kube'
import type { Binding } from '../claim/define.js'
import type { Kit } from '../claim/kit.js'
import { called } from '../claim/words.js'
import { fieldsBelow } from '../definition/schema.js'
import { externalNameOf } from '../managed/meta.js'

/** What is to be provisioned for a claim. */
export interface Wanted {
  readonly binding: Binding
  readonly object: KubeObject
}

/**
 * Refuses to give a claim the external resource that another object stands for
 * already (CLM7): whoever may write a claim may write any external name into
 * it, and what has that name may be another namespace's.
 */
export async function refuseTakenNames(kit: Kit, wanted: readonly Wanted[]): Promise<void> {
  for (const { binding, object } of wanted) {
    const name = externalNameOf(object)
    // Its own name was made up for it, and is nobody else's.
    if (name === '') continue
    const others = [...(await kit.find(binding.managed.type, {})), ...wanted.map((other) => other.object)]
    const taken = others.find((other) => isSameExternal(binding, other, object))
    if (!taken) continue
    const hint = 'the classes can keep names apart with crossplane.io/external-name-prefix'
    throw new Error(`the external name ${name} belongs to ${called(taken)} already; ${hint}`)
  }
}

/** Do two objects of a kind stand for the same external resource? */
function isSameExternal({ managed }: Binding, a: KubeObject, b: KubeObject): boolean {
  if (a.kind !== b.kind || a.apiVersion !== b.apiVersion || a.metadata.name === b.metadata.name) return false
  const where = [...fieldsBelow(managed.parameters)].filter(({ node }) => node.identifier)
  const paths = ['spec.providerConfigRef.name', ...where.map(({ path }) => `spec.forProvider.${path.join('.')}`)]
  // Not yet seen by anybody who fills in what is left out.
  const read = (object: KubeObject, path: string) =>
    findFieldValue(object, path) ?? (path === paths[0] ? 'default' : undefined)
  const name = (object: KubeObject) =>
    externalNameOf(object) || (managed.name === 'chosen' ? object.metadata.name : undefined)
  return name(a) === name(b) && paths.every((path) => equal(read(a, path), read(b, path)))
}
