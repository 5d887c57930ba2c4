import { type Client, equal, ignoring, isNotFound, type KubeObject, type ResourceType } from '@crosstie/kube'
import { Followed } from '../../access/follow.js'
import { type Sleep, WorkQueue } from '../../workqueue.js'

const TYPE: ResourceType = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  resource: 'validatingadmissionpolicies',
  namespaced: false,
}
const FIELD_MANAGER = 'validatingadmissionpolicy-status'

/** An expression that does not match the types of its inputs. */
export interface ExpressionWarning {
  /** `spec.validations[0].expression` */
  readonly fieldRef: string
  readonly warning: string
}

/** Dependencies of runPolicyStatus. */
export interface PolicyStatusOptions {
  readonly client: Client
  /** Checks the expressions of a policy against the schemas of its kinds. */
  readonly check: (policy: KubeObject) => readonly ExpressionWarning[]
  readonly failed: (what: string, error: unknown) => void
  readonly sleep?: Sleep
}

/**
 * Writes the observed generation and the type warnings into the status of every policy. Runs until the signal
 * aborts.
 */
export async function runPolicyStatus(options: PolicyStatusOptions, signal: AbortSignal): Promise<void> {
  const { client, check, failed, sleep } = options
  const policies = new Followed()
  const reconcile = async (name: string) => {
    const policy = policies.get(undefined, name)
    if (!policy || policy.metadata.deletionTimestamp) return
    const status = statusOf(policy, check)
    if (equal(policy['status'], status)) return
    const applied = { apiVersion: policy.apiVersion, kind: policy.kind, metadata: { name }, status }
    const write = { fieldManager: FIELD_MANAGER, force: true, subresource: 'status', signal }
    await client.apply(TYPE, applied, write).catch(ignoring(isNotFound))
  }
  const work = new WorkQueue(reconcile, (name, error) => failed(`write the status of policy ${name}`, error), {
    signal,
    pause: sleep,
  })
  const changed = (policy: KubeObject) => {
    const seen = (policy['status'] as { observedGeneration?: number } | undefined)?.observedGeneration
    if (seen !== policy.metadata.generation) work.add(policy.metadata.name!)
  }
  await policies.run(client, TYPE, {}, changed, signal, sleep)
}

function statusOf(policy: KubeObject, check: PolicyStatusOptions['check']): object {
  const expressionWarnings = check(policy)
  const typeChecking = expressionWarnings.length > 0 ? { expressionWarnings } : {}
  return { observedGeneration: policy.metadata.generation, typeChecking }
}
