import { randomUUID } from 'node:crypto'
import { equal, type KubeObject, type ObjectMeta, timestamp } from '@crosstie/kube'
import { checkNamespaceOpen } from '../admission/namespace.js'
import type { WriteRequest } from '../serving/request.js'
import { withoutDuplicateOwners } from './owners.js'
import { checkDefinitionStays } from './preconditions.js'
import { isolateStatus, withoutStatus } from './status.js'
import type { WriteOperation } from './write-operation.js'

/** Keeps the fields that the client may not change, before field ownership is computed. */
export function prepare(operation: WriteOperation): void {
  const { engine, request, live, object, proposal } = operation
  if (live) {
    operation.object = preparedForUpdate(operation, object, live)
    return
  }
  checkDefinitionStays(request, object)
  checkNamespaceOpen(engine, request, object)
  if (!proposal.ownershipTracked) operation.object = withoutStatus(request, object)
}

/** Sets the fields that only the server sets, after webhooks may have changed them. */
export function setServerFields(operation: WriteOperation): void {
  const { request, live, context } = operation
  const { strategy } = request.served.definition
  if (!live) {
    const created = withCreationFields(operation, withoutDuplicateOwners(request, operation.object, true))
    strategy.prepare?.(created, undefined, context)
    operation.object = created
    return
  }
  const next = operation.mutated ? preparedForUpdate(operation, operation.object, live) : operation.object
  operation.object = nextGeneration(request, withoutDuplicateOwners(request, next, true), live)
}

function preparedForUpdate({ request, context }: WriteOperation, object: KubeObject, live: KubeObject): KubeObject {
  const prepared = withLiveServerFields(isolateStatus(request, object, live), live)
  request.served.definition.strategy.prepare?.(prepared, live, context)
  return prepared
}

function withLiveServerFields(object: KubeObject, live: KubeObject): KubeObject {
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = live.metadata
  const {
    selfLink: _s,
    deletionTimestamp: _d,
    deletionGracePeriodSeconds: _p,
    generation: _g,
    ...given
  } = object.metadata
  return {
    ...object,
    metadata: {
      ...given,
      uid: given.uid || live.metadata.uid,
      resourceVersion: live.metadata.resourceVersion,
      creationTimestamp,
      ...(generation === undefined ? {} : { generation }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    },
  }
}

/** The generation grows when anything but metadata and status changed. */
function nextGeneration({ served }: WriteRequest, object: KubeObject, live: KubeObject): KubeObject {
  if (served.definition.strategy.generation === 'never') return object
  const ignoresStatus = served.version.subresources.status === true
  const content = ({ metadata: _m, status, apiVersion: _v, kind: _k, ...rest }: KubeObject) =>
    ignoresStatus ? rest : { ...rest, status }
  if (equal(content(object), content(live))) return object
  return { ...object, metadata: { ...object.metadata, generation: (live.metadata.generation ?? 0) + 1 } }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function withCreationFields({ engine, request }: WriteOperation, object: KubeObject): KubeObject {
  const { served, namespace, dryRun } = request
  const { generation } = served.definition.strategy
  const {
    resourceVersion,
    deletionTimestamp: _d,
    deletionGracePeriodSeconds: _g,
    selfLink: _s,
    ...given
  } = object.metadata
  const { name, generateName, labels, annotations, uid: _u, namespace: _n, creationTimestamp: _c, ...rest } = given
  const { generation: wished, ...others } = rest
  // The order is that of Go's ObjectMeta, which users know from kubectl.
  const metadata: Mutable<ObjectMeta> = { name }
  if (generateName) metadata.generateName = generateName
  if (namespace) metadata.namespace = namespace
  metadata.uid = randomUUID()
  // A dry run shows the resourceVersion that was sent. Otherwise the property reserves the place that the store fills.
  metadata.resourceVersion = dryRun ? resourceVersion : undefined
  if (generation === 'onChange') metadata.generation = 1
  metadata.creationTimestamp = timestamp(engine.clock.now())
  if (labels) metadata.labels = labels
  if (annotations) metadata.annotations = annotations
  if (generation === 'never' && wished !== undefined) metadata.generation = wished
  Object.assign(metadata, others)
  return { ...withoutStatus({ served }, object), metadata }
}
