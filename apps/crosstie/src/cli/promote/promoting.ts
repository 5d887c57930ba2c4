import {
  apiVersionOf,
  groupKind,
  isConflict,
  type KubeObject,
  messageOf,
  parseApiVersion,
  type ResourceType,
} from '@crosstie/kube'
import {
  type PlannedPromotion,
  type PlanRequestStatus,
  type Promotion,
  planRequestType,
  promote,
} from '@crosstie/resources'
import { callBudgets } from '../../daemon/budgets.js'
import { providersOf } from '../../daemon/providers.js'
import { loadRegistry } from '../../daemon/registry.js'
import { type Input, UsageError } from '../command.js'
import { surroundings } from '../discover/imports.js'
import type { Api } from '../shared/access.js'
import { requestAnswer } from '../shared/requests.js'

/** An object to promote. */
export interface Subject {
  readonly type: ResourceType
  readonly name: string
}

/** The result for one object. */
export interface Promoted
  extends Subject,
    Pick<Promotion, 'outcome' | 'because' | 'changes' | 'tags' | 'plan' | 'object'> {}

/** How to promote. */
export interface Promoting {
  readonly policies: readonly string[]
  readonly dryRun: boolean
}

/** Promotes some objects. The result is in their order. */
export type Promote = (subjects: readonly Subject[]) => Promise<readonly Promoted[]>

const FIELD_MANAGER = 'crosstie-promote'
const TRIES = 5

/** The control plane plans the promotions; this user writes the objects, and only the revisions that were planned. */
export function promoteByRequest(input: Input, api: Api, { policies, dryRun }: Promoting): Promote {
  const { signal } = input
  const planned = async (subjects: readonly Subject[]) => {
    const objects = subjects.map(({ type, name }) => ({ apiVersion: apiVersionOf(type), kind: type.kind, name }))
    const spec = { objects, promote: { policies } }
    return (await requestAnswer<PlanRequestStatus>(input, api, planRequestType, spec)).promotions ?? []
  }
  const write = async (subject: Subject, promotion: PlannedPromotion | undefined, tries = TRIES): Promise<Promoted> => {
    if (!promotion?.patch) return { ...subject, ...resultOf(promotion) }
    const options = { fieldManager: FIELD_MANAGER, dryRun, signal }
    const patch = { type: 'merge', patch: promotion.patch } as const
    try {
      const object = await api.client.patch<KubeObject>(subject.type, { name: subject.name }, patch, options)
      return { ...subject, ...resultOf(promotion), outcome: dryRun ? 'ready' : 'promoted', object }
    } catch (error) {
      signal.throwIfAborted()
      if (isConflict(error) && tries > 1) return await write(subject, (await planned([subject]))[0], tries - 1)
      return { ...subject, outcome: 'refused', because: messageOf(error), changes: [] }
    }
  }
  return async (subjects) => {
    const promotions = await planned(subjects)
    // The control plane answers in the version of its controllers, and refused objects come last.
    const isOf = ({ type, name }: Subject, promotion: PlannedPromotion) =>
      promotion.name === name &&
      promotion.kind === type.kind &&
      parseApiVersion(promotion.apiVersion)?.group === type.group
    const promotionOf = (subject: Subject) => promotions.find((promotion) => isOf(subject, promotion))
    return await Promise.all(subjects.map((subject) => write(subject, promotionOf(subject))))
  }
}

function resultOf(
  planned: PlannedPromotion | undefined,
): Pick<Promoted, 'outcome' | 'because' | 'changes' | 'tags' | 'plan'> {
  if (!planned) return { outcome: 'refused', because: 'the control plane gave no answer for it', changes: [] }
  const { outcome, because, changes, tags, plan } = planned
  return { outcome, because, changes, ...(tags ? { tags } : {}), ...(plan ? { plan } : {}) }
}

/** Plans and writes in this process, with the providers of --providers and the credentials that it finds here. */
export async function promoteHere({ values, signal }: Input, api: Api, promoting: Promoting): Promise<Promote> {
  const { kinds } = await loadRegistry(providersOf(values))
  const options = { client: api.client, ...promoting, surroundings, budgets: callBudgets() }
  const promoteOne = async ({ type, name }: Subject): Promise<Promoted> => {
    const kind = kinds.find((each) => groupKind(each.type) === groupKind(type))
    if (!kind) throw new UsageError(`no provider of --providers has the managed kind ${groupKind(type)}`)
    const { kind: _, patch: __, ...result } = await promote(options, { kind, name }, signal)
    return { ...result, type, name }
  }
  return (subjects) => Promise.all(subjects.map(promoteOne))
}
