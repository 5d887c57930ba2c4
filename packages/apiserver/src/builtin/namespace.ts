import { type FieldError, fieldErrors, isObject, isQualifiedName, type KubeObject } from '@crosstie/kube'
import type { Definition, WriteContext } from '../definitions/definition.js'
import { ageColumn, column, nameColumn } from './columns.js'
import { type Draft, defineKind } from './kind.js'

const NAME_LABEL = 'kubernetes.io/metadata.name'
/** Finalizers of the server, which need no domain. */
const standardFinalizers = ['kubernetes', 'foregroundDeletion', 'orphan']

const finalizersOf = (namespace: KubeObject): readonly string[] =>
  ((isObject(namespace['spec']) ? namespace['spec']['finalizers'] : undefined) ?? []) as readonly string[]
const phaseOf = (namespace: KubeObject): unknown =>
  isObject(namespace['status']) ? namespace['status']['phase'] : undefined

/** Namespace, with the subresources `status` and `finalize`. */
export function namespaceKind(): Definition {
  return defineKind({
    group: '',
    kind: 'Namespace',
    plural: 'namespaces',
    model: 'io.k8s.api.core.v1.Namespace',
    namespaced: false,
    shortNames: ['ns'],
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: { status: true, finalize: true },
    selectableFields: ['.status.phase'],
    columns: [
      nameColumn,
      column('Status', 'string', 'Active, or Terminating while its contents are deleted.', phaseOf),
      ageColumn,
    ],
    defaults(namespace) {
      labelWithName(namespace)
      const status = namespace['status'] as Draft
      status['phase'] ??= 'Active'
    },
    strategy: {
      generation: 'never',
      unconditionalUpdate: true,
      createOnUpdate: false,
      nameRule: 'dnsLabel',
      resets: { '': [['status']], status: [['spec']], finalize: [['status']] },
      prepare,
      validate,
      beginDelete(namespace) {
        // Namespaces have no grace period. They are deleted when they are empty.
        const { deletionGracePeriodSeconds: _, ...metadata } = namespace['metadata'] as Draft
        namespace['metadata'] = metadata
        namespace['status'] = { ...(namespace['status'] as Draft | undefined), phase: 'Terminating' }
      },
      holds: (namespace) => finalizersOf(namespace).length > 0,
    },
  })
}

function labelWithName(namespace: Draft): void {
  const metadata = namespace['metadata'] as Draft
  const { name, labels } = metadata as { name?: string; labels?: Record<string, string> }
  if (!name || labels?.[NAME_LABEL] === name) return
  namespace['metadata'] = { ...metadata, labels: { ...labels, [NAME_LABEL]: name } }
}

function prepare(namespace: Draft, old: KubeObject | undefined, { subresource }: WriteContext): void {
  labelWithName(namespace)
  if (!old) {
    const finalizers = finalizersOf(namespace as unknown as KubeObject)
    namespace['spec'] = finalizers.includes('kubernetes')
      ? { finalizers }
      : { finalizers: [...finalizers, 'kubernetes'] }
    namespace['status'] = { phase: 'Active' }
    return
  }
  // Each of the three endpoints changes only its own part.
  if (subresource !== 'finalize') namespace['spec'] = old['spec']
  if (subresource !== 'status') namespace['status'] = old['status']
}

function validate(namespace: KubeObject, old: KubeObject | undefined, { subresource }: WriteContext): FieldError[] {
  if (old && subresource === 'status') return phaseErrors(namespace)
  return finalizersOf(namespace).flatMap((name, i) =>
    finalizerErrors(name, subresource === 'finalize' ? `spec.finalizers[${i}]` : 'spec.finalizers'),
  )
}

function phaseErrors(namespace: KubeObject): FieldError[] {
  const phase = phaseOf(namespace)
  const deleting = namespace.metadata.deletionTimestamp !== undefined
  if (phase === (deleting ? 'Terminating' : 'Active')) return []
  const words = deleting
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty"
  return [fieldErrors.invalid('status.Phase', phase ?? '', words)]
}

function finalizerErrors(name: string, field: string): FieldError[] {
  const errors = isQualifiedName(name).map((message) => fieldErrors.invalid(field, name, message))
  if (!name.includes('/') && !standardFinalizers.includes(name)) {
    const words = 'name is neither a standard finalizer name nor is it fully qualified'
    errors.push(fieldErrors.invalid(field, name, words))
  }
  return errors
}
