import type { KubeObject } from '@crosstie/kube'
import { type Api, GoneError } from './api.js'

const HOME = '/api/v1/namespaces/garden/configmaps'
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const DEPENDENTS = 3

interface Plant {
  readonly number: number
  readonly kind: 'Background' | 'Foreground' | 'Orphan' | 'namespace' | 'definition'
  /** The path of the object whose deletion cascades. */
  readonly path: string
  uid?: string
  /** The names of the dependents whose creation was acknowledged. */
  readonly dependents: string[]
  deleted: boolean
}

/**
 * Objects whose deletion the server has to finish: owners, namespaces, CRDs. Crashes interrupt some of these
 * deletions.
 */
export class Garden {
  readonly #plants: Plant[] = []

  get size(): number {
    return this.#plants.length
  }

  /** Creates and deletes objects until the connection is gone. */
  async work(api: Api, random: () => number): Promise<void> {
    try {
      await this.tend(api)
      for (;;) await this.#plant(api, random)
    } catch (error) {
      if (!(error instanceof GoneError)) throw error
    }
  }

  /** Repeats deletions that were not acknowledged. */
  async tend(api: Api): Promise<void> {
    await expect(api.send('POST', '/api/v1/namespaces', { metadata: { name: 'garden' } }), 201, 409)
    for (const plant of this.#plants) if (!plant.deleted) await uproot(api, plant)
  }

  /** Returns the objects that should be gone but exist, or should exist but are gone. */
  async complaints(api: Api): Promise<string[]> {
    const names = async (path: string) => new Set((await items(api, path)).map(({ metadata }) => metadata.name!))
    const [namespaces, definitions] = [await names('/api/v1/namespaces'), await names(CRDS)]
    const maps = await items(api, '/api/v1/configmaps')
    const secrets = await items(api, '/api/v1/secrets')
    const home = new Map(
      maps.filter(({ metadata }) => metadata.namespace === 'garden').map((map) => [map.metadata.name!, map]),
    )
    const lost = [...maps, ...secrets].filter(({ metadata }) => !namespaces.has(metadata.namespace!))
    const complaints = lost.map(({ metadata }) => `${metadata.namespace}/${metadata.name} has no namespace`)
    for (const plant of this.#plants) {
      const { number, kind, uid } = plant
      if (kind === 'namespace' && namespaces.has(`garden-${number}`)) complaints.push(`namespace ${number} stays`)
      if (kind === 'definition' && definitions.has(`plants${number}.garden.example.org`))
        complaints.push(`definition ${number} stays`)
      if (kind === 'namespace' || kind === 'definition') continue
      if (home.has(`owner-${number}`)) complaints.push(`${kind} owner ${number} stays`)
      for (let i = 0; i < DEPENDENTS; i++) {
        const name = `dependent-${number}-${i}`
        const owners = home.get(name)?.metadata.ownerReferences ?? []
        const surely = plant.dependents.includes(name)
        if (kind !== 'Orphan' && home.has(name)) complaints.push(`${name} outlives its ${kind} owner`)
        if (kind === 'Orphan' && surely && !home.has(name)) complaints.push(`${name} was no orphan`)
        if (owners.some((owner) => owner.uid === uid)) complaints.push(`${name} still names its owner`)
      }
    }
    return complaints
  }

  async #plant(api: Api, random: () => number): Promise<void> {
    const kind = (['Background', 'Foreground', 'Orphan', 'namespace', 'definition'] as const)[Math.floor(random() * 5)]!
    const number = this.#plants.length
    const plant: Plant = { number, kind, path: pathOf(kind, number), dependents: [], deleted: false }
    this.#plants.push(plant)
    if (kind === 'namespace') await sowNamespace(api, number)
    else if (kind === 'definition') await sowDefinition(api, number)
    else await sowOwner(api, plant)
    await uproot(api, plant)
  }
}

function pathOf(kind: Plant['kind'], number: number): string {
  if (kind === 'namespace') return `/api/v1/namespaces/garden-${number}`
  if (kind === 'definition') return `${CRDS}/plants${number}.garden.example.org`
  return `${HOME}/owner-${number}`
}

async function uproot(api: Api, plant: Plant): Promise<void> {
  const { kind, path } = plant
  const options = kind === 'namespace' || kind === 'definition' ? undefined : { propagationPolicy: kind }
  await expect(api.send('DELETE', path, options), 200, 202, 404, 409)
  plant.deleted = true
}

async function sowNamespace(api: Api, number: number): Promise<void> {
  const name = `garden-${number}`
  await expect(api.send('POST', '/api/v1/namespaces', { metadata: { name } }), 201)
  const here = `/api/v1/namespaces/${name}`
  for (let i = 0; i < DEPENDENTS; i++) {
    await expect(api.send('POST', `${here}/configmaps`, { metadata: { name: `map-${i}` } }), 201)
    await expect(api.send('POST', `${here}/secrets`, { metadata: { name: `secret-${i}` } }), 201)
  }
}

async function sowDefinition(api: Api, number: number): Promise<void> {
  const names = { plural: `plants${number}`, kind: `Plant${number}` }
  const schema = { openAPIV3Schema: { type: 'object' } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const metadata = { name: `${names.plural}.garden.example.org` }
  const spec = { group: 'garden.example.org', scope: 'Namespaced', names, versions }
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec }
  await expect(api.send('POST', CRDS, crd), 201)
  const path = `/apis/garden.example.org/v1/namespaces/default/${names.plural}`
  while ((await api.send('GET', path)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 5))
  for (let i = 0; i < DEPENDENTS; i++) {
    const plant = { apiVersion: 'garden.example.org/v1', kind: names.kind, metadata: { name: `plant-${i}` } }
    await expect(api.send('POST', path, plant), 201)
  }
}

async function sowOwner(api: Api, plant: Plant): Promise<void> {
  const { number } = plant
  const owner = await expect(api.send('POST', HOME, { metadata: { name: `owner-${number}` } }), 201)
  plant.uid = owner.metadata.uid
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: `owner-${number}`, uid: plant.uid }
  const ownerReferences = [{ ...reference, blockOwnerDeletion: true }]
  for (let i = 0; i < DEPENDENTS; i++) {
    const name = `dependent-${number}-${i}`
    await expect(api.send('POST', HOME, { metadata: { name, ownerReferences } }), 201)
    plant.dependents.push(name)
  }
}

async function items(api: Api, path: string): Promise<readonly KubeObject[]> {
  const { items = [] } = (await expect(api.send('GET', path), 200)) as { items?: readonly KubeObject[] }
  return items
}

async function expect(answer: ReturnType<Api['send']>, ...wanted: number[]): Promise<KubeObject> {
  const { status, text, body } = await answer
  if (!wanted.includes(status)) throw new Error(`wanted ${wanted}, got ${status} ${text}`)
  return body
}
