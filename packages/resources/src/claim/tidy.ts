import { ignoring, isConflict, isNotFound, type KubeObject, type ObjectKey, type ResourceType } from '@crosstie/kube'
import { revisionOf } from '../managed/meta.js'
import { type ClaimKit, change, setPhase } from './kit.js'
import { claimAnnotations, keyOf, type OfferSpec, phaseOf, specOf } from './words.js'

const nameOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`

/** Remembers what says that it is for a claim. */
export function noteOffer(kit: ClaimKit, key: ObjectKey, type: ResourceType, offer: KubeObject): void {
  const noted = { type, name: offer.metadata.name!, uid: specOf<OfferSpec>(offer).claimRef?.uid }
  const held = kit.offers.get(nameOf(key))
  const id = `${type.kind}/${offer.metadata.name}`
  if (held) held.set(id, noted)
  else kit.offers.set(nameOf(key), new Map([[id, noted]]))
}

/**
 * Puts right what says that it is for a claim that is no more: somebody made
 * or bound it, and died, while the claim went away. What nobody acted on yet is
 * taken away; what was only just bound is free again; what was in use is kept.
 */
export async function tidyAfter(
  kit: ClaimKit,
  key: ObjectKey,
  claim: KubeObject | undefined,
  signal: AbortSignal,
): Promise<void> {
  const offers = kit.offers.get(nameOf(key))
  if (!offers) return
  for (const [id, { type, name, uid }] of offers) {
    if (uid && uid === claim?.metadata.uid) continue
    const offer = await read(kit, type, name, signal)
    const claimRef = offer && specOf<OfferSpec>(offer).claimRef
    if (!claimRef || claimRef.namespace !== key.namespace || claimRef.name !== key.name) offers.delete(id)
    else if (claimRef.uid && claimRef.uid !== claim?.metadata.uid) await letGo(kit, type, offer, signal)
  }
  if (offers.size === 0) kit.offers.delete(nameOf(key))
}

async function letGo(kit: ClaimKit, type: ResourceType, offer: KubeObject, signal: AbortSignal): Promise<void> {
  const { annotations, deletionTimestamp } = offer.metadata
  const phase = phaseOf(offer)
  if (deletionTimestamp || phase === 'Released') return
  try {
    if (annotations?.[claimAnnotations.provisioning] !== undefined) {
      // From the revision in which nobody had acted on it.
      await kit.client.delete(type, keyOf(offer), { preconditions: revisionOf(offer), signal })
    } else if (phase === 'Bound' || phase === 'Unbindable') await setPhase(kit, type, offer, 'Released', signal)
    else await change(kit, type, offer, { spec: { claimRef: null } }, signal)
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error
  }
}

async function read(
  kit: ClaimKit,
  type: ResourceType,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  return await kit.client.get(type, { name }, { signal }).catch(ignoring(isNotFound))
}
