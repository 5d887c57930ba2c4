import { createHash } from 'node:crypto'
import { type Log, sleep } from '@crosstie/controller'
import {
  type Client,
  conditionsOf,
  equal,
  ignoring,
  isNotFound,
  type Json,
  type KubeObject,
  messageOf,
  type ResourceType,
  stringify,
} from '@crosstie/kube'

/** The resource type of CustomResourceDefinitions. */
export const DEFINITIONS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
}
const FIELD_MANAGER = 'crosstie'
/** The annotation with the hash of the applied definition, so that an unchanged one is not written again. */
const HASH = 'crosstie.io/definition-hash'
const PATIENCE_MS = 60_000

/** Installs a definition, unless the server has the same one. */
export async function writeDefinition(client: Client, crd: KubeObject, log: Log, signal: AbortSignal): Promise<void> {
  const name = crd.metadata.name!
  const hash = hashOf(crd)
  const found = await client.get(DEFINITIONS, { name }, { signal }).catch(ignoring(isNotFound))
  if (found?.metadata.annotations?.[HASH] === hash) return
  const { apiVersion: _, kind: __, ...rest } = crd
  const annotations = { ...crd.metadata.annotations, [HASH]: hash }
  const metadata = { ...crd.metadata, name, annotations }
  await client.apply(DEFINITIONS, { ...rest, metadata }, { fieldManager: FIELD_MANAGER, force: true, signal })
  log.info(found ? 'changed a definition' : 'installed a definition', { definition: name })
}

/** Installs an admission policy or its binding, unless the server has the same one or does not serve such objects. */
export async function installPolicy(client: Client, policy: KubeObject, log: Log, signal: AbortSignal): Promise<void> {
  const name = policy.metadata.name!
  const type: ResourceType = {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: policy.kind,
    resource:
      policy.kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings',
    namespaced: false,
  }
  const hash = hashOf(policy)
  const found = await client.get(type, { name }, { signal }).catch(ignoring(isNotFound))
  if (found?.metadata.annotations?.[HASH] === hash) return
  const { apiVersion: _, kind: __, ...rest } = policy
  const metadata = { ...policy.metadata, name, annotations: { ...policy.metadata.annotations, [HASH]: hash } }
  try {
    await client.apply(type, { ...rest, metadata }, { fieldManager: FIELD_MANAGER, force: true, signal })
    log.info(found ? 'changed an admission policy' : 'installed an admission policy', {
      policy: name,
      kind: policy.kind,
    })
  } catch (error) {
    if (!isNotFound(error)) throw error
    log.warn('the server has no ValidatingAdmissionPolicy: external names are restored instead of protected', {
      policy: name,
    })
  }
}

const hashOf = (object: KubeObject): string => createHash('sha256').update(stringify(object)).digest('hex').slice(0, 16)

/** Writes the conversion into an existing definition, if it differs. Other fields are kept. */
export async function writeConversion(client: Client, crd: KubeObject, log: Log, signal: AbortSignal): Promise<void> {
  const name = crd.metadata.name!
  const { conversion } = crd['spec'] as { conversion?: Json }
  if (!conversion) return
  const found = await client.get(DEFINITIONS, { name }, { signal })
  if (equal((found['spec'] as { conversion?: Json }).conversion, conversion)) return
  const operations = [{ op: 'add', path: '/spec/conversion', value: conversion }] as const
  await client.patch(DEFINITIONS, { name }, { type: 'json', operations }, { signal, fieldManager: FIELD_MANAGER })
  log.info('changed how versions are converted', { definition: name })
}

const LOOK_MAX_MS = 5_000

/** Waits until definitions that others install are served. Needs only the permission for discovery. */
export async function awaitDefinitions(
  client: Client,
  definitions: readonly KubeObject[],
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  let reported = false
  for (let wait = 50; !signal.aborted; wait = Math.min(wait * 2, LOOK_MAX_MS)) {
    const served = await Promise.all(definitions.map((crd) => isServed(client, crd, signal)))
    const missing = definitions.filter((_, i) => !served[i]).map(({ metadata }) => metadata.name)
    if (missing.length === 0) return
    if (!reported) log.warn("waiting for definitions: apply what 'crosstie manifests --only crds' prints", { missing })
    reported = true
    await sleep(wait, signal)
  }
}

async function isServed(client: Client, crd: KubeObject, signal: AbortSignal): Promise<boolean> {
  const { group, names, versions } = crd['spec'] as {
    readonly group: string
    readonly names: { readonly plural: string }
    readonly versions: readonly { readonly name: string; readonly storage: boolean }[]
  }
  const { name: version } = versions.find(({ storage }) => storage)!
  const types = await client.discover({ group, version }, { signal })
  return types.some(({ resource }) => resource === names.plural)
}

/** Resolves when an existing definition is served. Throws if the server rejects its names. */
export async function untilServed(client: Client, crd: KubeObject, signal: AbortSignal): Promise<void> {
  const name = crd.metadata.name!
  const deadline = Date.now() + PATIENCE_MS
  for (let wait = 5; !signal.aborted; wait = Math.min(wait * 2, 500)) {
    const conditions = conditionsOf(await client.get(DEFINITIONS, { name }, { signal }))
    const established = conditions.find(({ type }) => type === 'Established')
    if (established?.status === 'True') return
    if (Date.now() > deadline) {
      const why = conditions.map(({ type, message }) => `${type}: ${message ?? ''}`).join('; ')
      throw new Error(`the definition ${name} is not served: ${why || messageOf(established?.message)}`)
    }
    await sleep(wait, signal)
  }
}
