import type { KubeObject } from '@crosstie/kube'
import { type Answer, type Api, GoneError } from './api.js'
import type { Deed, Outcome, Recording } from './recording.js'

/** A kind that the clients write. */
export interface Kind {
  readonly name: string
  readonly apiVersion: string
  readonly kind: string
  readonly path: string
  /** Returns the field that holds the text. */
  content(text: string): object
}

const NAMESPACE = 'default'

/** The kinds that the clients write. */
export const kinds: readonly Kind[] = [
  {
    name: 'configmaps',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    path: `/api/v1/namespaces/${NAMESPACE}/configmaps`,
    content: (text) => ({ data: { text } }),
  },
  {
    name: 'secrets',
    apiVersion: 'v1',
    kind: 'Secret',
    path: `/api/v1/namespaces/${NAMESPACE}/secrets`,
    content: (text) => ({ data: { text: Buffer.from(text).toString('base64') } }),
  },
  {
    name: 'registers',
    apiVersion: 'crash.example.org/v1',
    kind: 'Register',
    path: `/apis/crash.example.org/v1/namespaces/${NAMESPACE}/registers`,
    content: (text) => ({ spec: { text } }),
  },
]

/** The CRD of the custom kind. */
export const registerCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'registers.crash.example.org' },
  spec: {
    group: 'crash.example.org',
    scope: 'Namespaced',
    names: { plural: 'registers', kind: 'Register' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { text: { type: 'string' } } } },
          },
        },
      },
    ],
  },
}

const KEYS = 12
/** The label of the objects of the test. The server has other objects. */
export const OURS = 'crash=test'

/** Writes and reads at random until the connection is gone. */
export async function disturb(
  api: Api,
  kind: Kind,
  recording: Recording,
  random: () => number,
  nextId: () => string,
): Promise<void> {
  const seen = new Map<string, KubeObject>()
  try {
    for (;;) {
      const key = `key-${Math.floor(random() * KEYS)}`
      if (random() < 0.3) await look(api, kind, recording, key, random, seen)
      else await write(api, kind, recording, { key, id: nextId(), random, seen })
    }
  } catch (error) {
    if (!(error instanceof GoneError)) throw error
  }
}

interface Wish {
  readonly key: string
  readonly id: string
  readonly random: () => number
  readonly seen: Map<string, KubeObject>
}

async function write(api: Api, kind: Kind, recording: Recording, wish: Wish): Promise<void> {
  const { key, id, random, seen } = wish
  const act = (['create', 'update', 'patch', 'apply', 'delete'] as const)[Math.floor(random() * 5)]!
  const old = seen.get(key)?.metadata.resourceVersion
  // An update must name a revision, even one that does not exist.
  const expect = act === 'update' ? Number(old ?? 1) : undefined
  const deed = begin(recording, { do: act, kind: kind.name, key, id, expect })
  const answer = await requestOf(api, kind, deed, random)
  deed.told = { ended: recording.now(), outcome: outcomeOf(deed, answer) }
  if (deed.told.outcome.is !== 'done') seen.delete(key)
  else {
    recording.heard(deed.told.outcome.revision)
    seen.set(key, answer.body)
  }
}

function begin(recording: Recording, wish: Pick<Deed, 'do' | 'kind' | 'key' | 'id' | 'expect'>): Deed {
  const deed: Deed = { ...wish, known: recording.known, begun: recording.now() }
  recording.deeds.push(deed)
  return deed
}

/** Writes an object that every watcher of the kind must see after all earlier changes. */
export async function fence(api: Api, kind: Kind, recording: Recording, id: string): Promise<number> {
  const deed = begin(recording, { do: 'apply', kind: kind.name, key: 'fence', id })
  const answer = await requestOf(api, kind, deed, () => 0)
  const outcome = outcomeOf(deed, answer)
  deed.told = { ended: recording.now(), outcome }
  if (outcome.is !== 'done') throw new Error(`the fence: ${answer.text}`)
  recording.heard(outcome.revision)
  return outcome.revision
}

function requestOf(api: Api, kind: Kind, deed: Deed, random: () => number): Promise<Answer> {
  const { key, id } = deed
  const text = 'x'.repeat(Math.floor(random() * (random() < 0.1 ? 20_000 : 500)))
  const labels = { crash: 'test', half: random() < 0.5 ? 'a' : 'b' }
  const metadata = { name: key, annotations: { id }, labels }
  const { apiVersion, kind: name, path } = kind
  const object = { apiVersion, kind: name, metadata, ...kind.content(text) }
  switch (deed.do) {
    case 'create':
      return api.send('POST', path, object)
    case 'update':
      return api.send('PUT', `${path}/${key}`, {
        ...object,
        metadata: { ...metadata, resourceVersion: String(deed.expect) },
      })
    case 'patch': {
      if (random() < 0.5) {
        return api.send('PATCH', `${path}/${key}`, { metadata }, 'application/merge-patch+json')
      }
      const change = [
        { op: 'add', path: '/metadata/annotations/id', value: id },
        { op: 'add', path: '/metadata/labels/half', value: labels.half },
      ]
      return api.send('PATCH', `${path}/${key}`, change, 'application/json-patch+json')
    }
    case 'apply':
      return api.send('PATCH', `${path}/${key}?fieldManager=test&force=true`, object, 'application/apply-patch+yaml')
    case 'delete':
      return api.send('DELETE', `${path}/${key}`, { propagationPolicy: 'Background' })
  }
}

function outcomeOf(deed: Deed, { status, text, body }: Answer): Outcome {
  if (deed.do === 'delete' && status === 200)
    return { is: 'deleted', uid: body.details?.uid ?? body.metadata.uid ?? '' }
  if (status === 200 || status === 201) return { is: 'done', revision: Number(body.metadata.resourceVersion) }
  if (status === 404) return { is: 'absent' }
  if (status === 409 && body.reason === 'AlreadyExists') return { is: 'exists' }
  if (status === 409) return { is: 'conflict' }
  throw new Error(`${deed.do} ${deed.key}: ${status} ${text}`)
}

async function look(
  api: Api,
  kind: Kind,
  recording: Recording,
  key: string,
  random: () => number,
  seen: Map<string, KubeObject>,
): Promise<void> {
  const { known } = recording
  if (random() < 0.2) {
    const { items, revision } = await listAll(api, kind, random() < 0.5 ? 5 : 0)
    const saw = new Map(items.map(({ metadata }) => [metadata.name!, Number(metadata.resourceVersion)]))
    recording.looks.push({ known, ended: recording.now(), kind: kind.name, saw, revision })
    recording.heard(revision)
    return
  }
  const { status, body, text } = await api.send('GET', `${kind.path}/${key}`)
  if (status !== 200 && status !== 404) throw new Error(`GET ${key}: ${status} ${text}`)
  const revision = status === 200 ? Number(body.metadata.resourceVersion) : 0
  if (status === 200) seen.set(key, body)
  recording.looks.push({ known, ended: recording.now(), kind: kind.name, saw: { key, revision } })
  recording.heard(revision)
}

/** Lists all objects of the test, in one response or in pages of one snapshot. */
export async function listAll(api: Api, { path }: Kind, limit: number) {
  const items: KubeObject[] = []
  let token = ''
  let revision = 0
  do {
    const page = `limit=${limit}&continue=${encodeURIComponent(token)}`
    const { status, body, text } = await api.send('GET', `${path}?labelSelector=${encodeURIComponent(OURS)}&${page}`)
    if (status !== 200) throw new Error(`a list: ${status} ${text}`)
    items.push(...(body.items ?? []))
    token = (body.metadata as { continue?: string }).continue ?? ''
    revision = Number(body.metadata.resourceVersion)
  } while (token)
  return { items, revision }
}
