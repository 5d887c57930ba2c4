import { annotations, externalNameOf, finalizer, withFinalizer } from '../../metadata/metadata.js'
import { withoutRequestNote } from '../create/create-request.js'
import { type Reconciliation, step } from '../reconciliation.js'

interface NotesOfName {
  readonly finalizers?: readonly string[]
  readonly annotations?: Readonly<Record<string, string | null>>
}

/** Records the external name and the finalizer of an external resource that exists. */
export async function noteExisting(reconciliation: Reconciliation, seen: string | undefined): Promise<void> {
  const unnoted = notesOfName(reconciliation, seen, true)
  // Admission accepts another name only if the status already contains it.
  const renamed = unnoted?.annotations?.[annotations.externalName]
  if (renamed && reconciliation.recordedName !== '') await reconciliation.recordExistence({ name: renamed })
  if (unnoted) await noteName(reconciliation, unnoted)
}

/**
 * Returns the metadata that is not recorded yet: the external name, the success of a create with unknown result,
 * and (`keep`) the finalizer. Undefined if everything is recorded.
 */
export function notesOfName(
  reconciliation: Reconciliation,
  seen: string | undefined,
  keep = false,
): NotesOfName | undefined {
  const { managed, history, runtime } = reconciliation
  const notes: Record<string, string | null> = {}
  const name = seen || reconciliation.externalName
  if (name !== '' && name !== externalNameOf(managed)) notes[annotations.externalName] = name
  if (keep && history.incomplete && (runtime.kind.token || !runtime.kind.naturalKey)) {
    notes[annotations.createSucceeded] = new Date(Math.max(runtime.clock.now(), history.pending!)).toISOString()
    Object.assign(notes, withoutRequestNote(reconciliation))
  }
  const finalizers = keep ? withFinalizer(managed.metadata.finalizers, finalizer) : managed.metadata.finalizers
  const complete = finalizers === managed.metadata.finalizers
  if (complete && isEmpty(notes)) return undefined
  return { ...(complete ? {} : { finalizers }), ...(isEmpty(notes) ? {} : { annotations: notes }) }
}

/** Writes the metadata with one patch. */
export async function noteName(reconciliation: Reconciliation, notes: NotesOfName): Promise<void> {
  const report = notes.finalizers
    ? { prefix: 'cannot update object: ' }
    : { reason: 'CannotInitializeManagedResource', prefix: 'cannot update managed resource: ', both: true }
  await step(report, () => reconciliation.patchMetadata({ ...notes }))
}

/** Reports whether the record has no enumerable keys. */
export function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}
