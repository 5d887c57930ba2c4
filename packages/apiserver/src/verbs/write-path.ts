import { append, type KubeObject, notFound, StatusError } from '@crosstie/kube'
import { admissionOf, type Review } from '../admission/review.js'
import { checkValid } from '../admission/validate.js'
import type { Engine } from '../serving/engine.js'
import { isLong, rest } from '../serving/pace.js'
import { type Outcome, unstored, type WriteRequest } from '../serving/request.js'
import { commit } from './commit.js'
import { awaitDurable } from './durable.js'
import { trackOwnership } from './ownership.js'
import { checkMayCreate } from './preconditions.js'
import { prepare, setServerFields } from './prepare.js'
import { type Proposal, type Stage, WriteOperation, type WriteVerb } from './write-operation.js'

/**
 * Every write of an object passes these stages in this order: create, update, patch, server-side apply, status, scale and
 * the writes of the server's own controllers. A verb contributes `decode` and `propose`. The order is that of kube-apiserver.
 * When another writer was faster, all stages but `decode` run again on the newest object.
 */
export const stages: readonly Stage[] = [
  decode,
  readLive,
  propose,
  prepare,
  trackOwnership,
  mutate,
  setServerFields,
  validate,
  admit,
  authorizeChange,
  commit,
]

/** Kinds such as SubjectAccessReview are answered instead of stored. kube-apiserver answers before it validates admission. */
export const reviewStages: readonly Stage[] = [decode, propose, trackOwnership, mutate, answer, admit]

/** kube-apiserver gives up after 34 s, regardless of the number of attempts. */
const RETRY_MAX_MS = 34_000

/**
 * Runs the stages until the write is durable. A write that names no resourceVersion never fails with a conflict: it is tried
 * again on the newest object. Throws a StatusError when a stage refuses, and 504 after 34 s of retries.
 */
export async function write<D>(
  engine: Engine,
  request: WriteRequest,
  verb: WriteVerb<D>,
  path: readonly Stage[] = stages,
): Promise<Outcome> {
  const operation = new WriteOperation(engine, request, verb as WriteVerb)
  const deadline = engine.clock.now() + RETRY_MAX_MS
  try {
    for (;;) {
      await attempt(operation, path)
      if (operation.outcome) return operation.outcome
      if (engine.clock.now() > deadline) throw timedOut()
    }
  } finally {
    operation.endTurn()
  }
}

/** Changes an existing object. Throws 404 when it does not exist. */
export function modify(
  engine: Engine,
  request: WriteRequest,
  change: (live: KubeObject) => Proposal | Promise<Proposal>,
): Promise<Outcome> {
  return write(engine, request, {
    target: 'existing',
    propose: (_decoded: unknown, live: KubeObject) => change(live),
  })
}

/** A refusal may depend on a version of the object that is not durable yet. The client must find that version, too. */
async function attempt(operation: WriteOperation, path: readonly Stage[]): Promise<void> {
  const { engine, request, key } = operation
  operation.begin()
  try {
    for (const stage of path) {
      if (isLong(request)) await rest(request)
      const pending = stage(operation)
      if (pending) await pending
    }
  } catch (error) {
    if (operation.live) await awaitDurable(engine, key)
    throw error
  }
}

function timedOut(): StatusError {
  const message = 'Timeout: request did not complete within requested timeout - context deadline exceeded'
  return new StatusError(504, 'Timeout', message, { details: {} })
}

/** Reads the body into an object of the kind. The first attempt decodes, later ones reuse its result. */
function decode(operation: WriteOperation): void {
  if (operation.attempts === 1) operation.decoded = operation.verb.decode?.()
}

/**
 * Reads the newest version of the object. Without one, the write is refused with 404 or becomes a create. From here to the
 * commit nothing is awaited unless a webhook or a conversion is involved: a write without them does not lose a race.
 */
function readLive(operation: WriteOperation): void | Promise<void> {
  if (operation.verb.target === 'new') return
  if (operation.contended) return operation.takeTurn().then(() => readTip(operation))
  return readTip(operation)
}

function readTip(operation: WriteOperation): void | Promise<void> {
  const { engine, request, verb, key } = operation
  const tip = engine.store.tip(key)
  if (!tip) return verb.target === 'either' ? checkMayCreate(engine, request) : refuseMissing(operation)
  operation.tip = tip
  const view = request.served.view(tip)
  if (!(view instanceof Promise)) {
    operation.live = view.object
    return
  }
  return view.then(({ object }) => {
    operation.live = object
  })
}

async function refuseMissing({ engine, request, key }: WriteOperation): Promise<never> {
  await awaitDurable(engine, key)
  throw notFound(request.served.type, request.name)
}

/** Asks the verb for the object to store: the body itself, the patched object or the merged one. */
function propose(operation: WriteOperation): void | Promise<void> {
  const { verb, decoded, live } = operation
  const accept = (proposal: Proposal): void => {
    operation.proposal = proposal
    operation.object = proposal.object
  }
  const proposed = verb.propose(decoded, live)
  return proposed instanceof Promise ? proposed.then(accept) : accept(proposed)
}

/** Mutating webhooks. */
function mutate(operation: WriteOperation): void | Promise<void> {
  const { engine, request, live, proposal } = operation
  operation.review = admissionOf(engine, request, live ? 'UPDATE' : 'CREATE', undefined, proposal.admitted?.view)
  if (operation.review) return mutateBy(operation, operation.review)
}

async function mutateBy(operation: WriteOperation, review: Review): Promise<void> {
  const { object, live } = operation
  const { admitted } = operation.proposal
  const [given, old] = admitted ? [admitted.object, admitted.old] : [object, live]
  const mutated = await review.mutate(given, old)
  if (mutated === given) return
  operation.object = admitted ? admitted.merge(mutated) : mutated
  operation.mutated = true
}

/** Metadata, schema, CEL rules and the kind's own rules: 422 with everything that is wrong. */
function validate({ request, object, live, context }: WriteOperation): void {
  checkValid(request, object, live, context)
  const warnings = request.served.definition.strategy.metadataWarnings?.(object.metadata, live?.metadata)
  if (warnings) append(request.warnings, warnings)
}

/** Validating policies and webhooks. */
function admit({ review, object, live, proposal: { admitted } }: WriteOperation): void | Promise<void> {
  return review?.validate(admitted ? admitted.show(object) : object, admitted?.old ?? live)
}

/** Checks that the user may make this particular change, for kinds such as roles that grant permissions. */
function authorizeChange({ request, object, live, context }: WriteOperation): void | Promise<void> {
  return request.served.definition.strategy.authorizeWrite?.(object, live, context)
}

/** Replaces the question with its answer. Admission still reviews the question. */
async function answer(operation: WriteOperation): Promise<void> {
  const { request, object, context } = operation
  const answered = await request.served.definition.strategy.answer?.(object, context)
  if (answered) operation.outcome = unstored(answered, true)
}
