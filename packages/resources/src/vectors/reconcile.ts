import type { Next } from '@crosstie/controller'
import { equal, type KubeObject, stringify, timestamp } from '@crosstie/kube'
import { type Secret, secretType } from '../connection/publish.js'
import { reservationType } from '../definition/reservation.js'
import { lateInitManager } from '../managed/late-initialization.js'
import { reconcile } from '../managed/reconcile.js'
import { kindRuntimeFor } from '../managed/runtime.js'
import { annotations, parseTime } from '../metadata/metadata.js'
import { FakeApi, type FakeRequest } from '../testing/fakeapi.js'
import { faultError } from './reference.js'
import type { Report, Vector } from './report.js'
import { type Round, wantedDifferences } from './wanted.js'
import { keyOf, kindOf, NOW, ScriptedExternal, seed, seedSecret, typeOf } from './world.js'

/** Runs reconcile.json: one or more reconciliations of one object, with a comparison after each. */
export async function runReconciles(file: Vector, report: Report): Promise<void> {
  for (const c of file['cases'] as Vector[]) {
    if (c['options']?.['initializerError']) report.skip('kinds have no initializers of their own here')
    else await report.attempt(c['id'], () => runCase(c, file['outcomes'][c['outcome']], report))
  }
}

async function runCase(c: Vector, outcome: readonly Vector[], report: Report): Promise<void> {
  const recognised = new Set<string>()
  const world = new CaseWorld(c)
  for (const [i, round] of (c['rounds'] as Vector[]).entries()) {
    const before = await world.prepare(round['before'] ?? {})
    const actual = await world.run(round, outcome[i]!)
    const context: Round = { c, round, recorded: outcome[i]!, before, actual }
    const { expected, rules } = wantedDifferences(context, simplified(outcome[i]!))
    if (!equal(actual, expected)) {
      const where = c['rounds'].length > 1 ? ` round ${i + 1}` : ''
      const names = [...rules, ...(c['quirks'] ?? [])].join(', ')
      report.fail(`${c['id']}${where}`, `(${names})\n${differing(actual, expected)}`)
      return
    }
    for (const rule of rules) recognised.add(rule)
    world.follow(outcome[i]!)
  }
  report.pass(recognised)
}

function differing(actual: Vector, expected: Vector, path = ''): string {
  const keys = [...new Set([...Object.keys(actual), ...Object.keys(expected)])].filter(
    (k) => !equal(actual[k], expected[k]),
  )
  return keys
    .map((key) => {
      const [a, e] = [actual[key], expected[key]]
      if (key === 'after' && a?.present && e?.present) return differing(a, e, 'after.')
      return `    ${path}${key} got  ${stringify(a)}\n    ${path}${key} want ${stringify(e)}`
    })
    .join('\n')
}

/** Returns the parts of a recorded round that are compared. */
function simplified(recorded: Vector): Vector {
  const { result } = recorded
  return {
    calls: recorded['externalCalls'],
    events: (recorded['events'] as Vector[]).map(({ type, reason }) => `${type} ${reason}`),
    result: { class: result.class, ...(result.class === 'poll' ? { seconds: result.requeueAfterSeconds } : {}) },
    after: recorded['after'],
    secret: recorded['secretAfter'] ?? undefined,
  }
}

class CaseWorld {
  readonly #external: ScriptedExternal
  readonly #api: FakeApi
  readonly #c: Vector
  #events: string[] = []
  #now = NOW
  #before: KubeObject | undefined
  #faults: Faults = new Faults([], [])

  constructor(c: Vector) {
    this.#c = c
    this.#external = new ScriptedExternal(c)
    this.#api = new FakeApi({ now: () => this.#now, before: (request) => this.#faults.strike(request) })
    seed(this.#api, c)
  }

  async run(round: Vector, recorded: Vector): Promise<Vector> {
    this.#external.calls = []
    this.#external.script = round['external'] ?? {}
    this.#events = []
    this.#faults = new Faults(round['kubeFaults'] ?? [], recorded['kubeWrites'])
    const result = await this.#reconcile()
    this.#faults = new Faults([], [])
    return {
      calls: this.#external.calls,
      events: this.#events,
      result,
      after: this.#after(),
      secret: 'secretAfter' in recorded ? this.#secret() : undefined,
    }
  }

  async #reconcile(): Promise<Vector> {
    const options = (this.#c['options'] ?? {}) as Vector
    const adds = options['pollIntervalHookAddsSeconds'] as number | undefined
    const runtime = kindRuntimeFor(kindOf(this.#c, this.#external.external), {
      client: this.#api,
      clock: { now: () => this.#now },
      events: { event: (_, type, reason) => this.#events.push(`${type} ${reason}`) },
      features: { managementPolicies: this.#c['gate'] },
      pollSeconds: options['pollIntervalSeconds'] ?? 60,
      minPollSeconds: options['minPollIntervalSeconds'] ?? 0,
      ...(adds === undefined ? {} : { adjustPoll: (_: KubeObject, seconds: number) => seconds + adds }),
    })
    try {
      return classOf(await reconcile(runtime, keyOf(this.#c), AbortSignal.timeout(60_000)))
    } catch {
      return { class: 'error' }
    }
  }

  /** Applies the `before` of a round to the stored object and returns the resulting state. */
  async prepare(before: Vector): Promise<Vector> {
    await this.#prepare(before)
    const object = this.#api.peek(typeOf(this.#c), keyOf(this.#c))
    this.#before = object
    const deleted = object?.metadata.deletionTimestamp !== undefined
    return { after: this.#after(), secret: this.#secret(), deleted, spec: object?.['spec'] ?? {} }
  }

  /** Adopts the recorded state, so that the next round starts from it even after an intended difference. */
  follow(recorded: Vector): void {
    const { after, secretAfter } = recorded
    const type = typeOf(this.#c)
    const held = this.#api.peek(type, keyOf(this.#c)) ?? this.#before
    if (!after.present || !held) this.#api.remove(type, keyOf(this.#c))
    else {
      const { generation, finalizers, labels, conditions, atProvider, lastHandledReconcileAt, forProvider } = after
      const lastTransitionTime = timestamp(this.#now)
      const timed = (conditions as Vector[]).map((condition) => ({ lastTransitionTime, ...condition }))
      const status = { conditions: timed, atProvider, lastHandledReconcileAt }
      const annotations = this.#unaged(after.annotations ?? {}, held.metadata.annotations ?? {})
      const metadata = { ...held.metadata, generation, finalizers, labels, annotations }
      const spec = { ...(held['spec'] as Vector), forProvider }
      this.#api.seed(type, JSON.parse(JSON.stringify({ ...held, metadata, spec, status })) as KubeObject)
    }
    if (secretAfter) seedSecret(this.#api, secretAfter)
    else if ('secretAfter' in recorded) this.#api.remove(secretType, { namespace: 'ns', name: 'conn' })
  }

  /** The inverse of #aged. It is exact to the second if our time has the same age as the recorded one. */
  #unaged(recorded: Readonly<Record<string, string>>, ours: Readonly<Record<string, string>>): Vector {
    const same = this.#aged(ours)
    return Object.fromEntries(
      Object.entries(recorded).map(([name, value]) => {
        const age = /^<now(?:-(\d+)s)?>$/.exec(value)
        if (same[name] === value) return [name, ours[name]]
        return [name, age ? timestamp(this.#now - Number(age[1] ?? 0) * 1000) : value]
      }),
    )
  }

  async #prepare(before: Vector): Promise<void> {
    const type = typeOf(this.#c)
    this.#now += (before['elapseSeconds'] ?? 0) * 1000
    const held = this.#api.peek(type, keyOf(this.#c))
    if (!held) return
    const notes = { ...held.metadata.annotations, ...before['setAnnotations'] }
    for (const name of before['removeAnnotations'] ?? []) delete notes[name]
    const gone = (before['removeFinalizers'] ?? []) as string[]
    const spec = held['spec'] as Vector
    const changesSpec = before['setPolicies'] !== undefined || before['userChangesSpec']
    const grown = (before['setPolicies'] !== undefined ? 1 : 0) + (before['userChangesSpec'] ? 1 : 0)
    this.#api.seed(type, {
      ...held,
      metadata: {
        ...held.metadata,
        annotations: notes,
        finalizers: (held.metadata.finalizers ?? []).filter((name) => !gone.includes(name)),
        generation: held.metadata.generation! + grown,
      },
      ...(changesSpec
        ? {
            spec: {
              ...spec,
              ...(before['setPolicies'] !== undefined ? { managementPolicies: before['setPolicies'] } : {}),
              ...(before['userChangesSpec'] ? { forProvider: { ...spec['forProvider'], region: 'r2' } } : {}),
            },
          }
        : {}),
    })
    const now = this.#api.peek(type, keyOf(this.#c))!
    const released = now.metadata.deletionTimestamp !== undefined && now.metadata.finalizers?.length === 0
    if (before['delete'] || released) await this.#api.delete(type, keyOf(this.#c))
  }

  #after(): Vector {
    const object = this.#api.peek(typeOf(this.#c), keyOf(this.#c))
    if (!object) return { present: false }
    const { metadata } = object
    const status = (object['status'] ?? {}) as Vector
    const { forProvider } = object['spec'] as Vector
    return {
      present: true,
      generation: metadata.generation,
      finalizers: metadata.finalizers ?? [],
      annotations: this.#aged(metadata.annotations ?? {}),
      labels: metadata.labels,
      conditions: ((status['conditions'] ?? []) as Vector[]).map(({ lastTransitionTime, ...rest }) => rest),
      forProvider,
      // Our atProvider includes forProvider (MR4). The recorded kind reports only its state.
      atProvider: status['atProvider'] && { state: status['atProvider'].state },
      lastHandledReconcileAt: status['lastHandledReconcileAt'],
    }
  }

  #aged(notes: Readonly<Record<string, string>>): Vector {
    const times: readonly string[] = [annotations.createPending, annotations.createSucceeded, annotations.createFailed]
    return Object.fromEntries(
      Object.entries(notes).map(([name, value]) => {
        const time = times.includes(name) ? parseTime(value) : undefined
        if (time === undefined) return [name, value]
        // The recording rounds ages, so that its duration is not significant.
        const age = Math.round((this.#now - time) / 5000) * 5
        return [name, age === 0 ? '<now>' : `<now-${age}s>`]
      }),
    )
  }

  #secret(): Vector | undefined {
    const secret = this.#api.peek(secretType, { namespace: 'ns', name: 'conn' }) as Secret | undefined
    if (!secret) return undefined
    const data = Object.entries(secret.data ?? {}).map(([name, value]) => [
      name,
      Buffer.from(value, 'base64').toString(),
    ])
    return {
      name: 'conn',
      namespace: 'ns',
      type: secret.type ?? '',
      data: Object.fromEntries(data),
      owners: secret.metadata.ownerReferences ?? [],
    }
  }
}

function classOf(next: Next): Vector {
  if (next.after === 'poll') return { class: 'poll', seconds: next.seconds }
  return { class: next.after === 'never' ? 'none' : 'backoff' }
}

/**
 * Injects the faults of a round into requests. A failed upstream write is identified by its changes instead of its
 * index, since we need fewer writes for the same changes.
 */
class Faults {
  readonly #counts = new Map<string, number>()
  readonly #hitWrites: { readonly tokens: readonly string[]; left: number; readonly error: string }[] = []

  constructor(
    private readonly faults: readonly Vector[],
    writes: readonly Vector[],
  ) {
    const failed = writes.filter(
      (write) => write['error'] && write['verb'] === 'update' && write['target'] === 'managed',
    )
    for (const write of failed) {
      const tokens = recordedTokens(write)
      const known = this.#hitWrites.find((hit) => equal(hit.tokens, tokens))
      const forever = faults.some((fault) => fault['op'] === 'update' && fault['times'] === -1)
      if (!known) this.#hitWrites.push({ tokens, left: forever ? Number.POSITIVE_INFINITY : 1, error: write['error'] })
      else known.left++
    }
  }

  strike(request: FakeRequest): void {
    const { type, name } = request
    // The recorded runtime does not reserve external names, so its faults do not apply to those requests.
    if (type.resource === reservationType.resource) return
    const target = type.resource === 'secrets' ? 'secret' : name === 'w' ? 'managed' : 'other'
    const op = operationOf(request)
    if (op === 'update' && target === 'managed') {
      const changed = changedTokens(request)
      const hit = this.#hitWrites.find(({ tokens, left }) => left > 0 && matches(tokens, changed))
      if (hit) {
        hit.left--
        throw faultError(hit.error, type, name)
      }
      return
    }
    const nth = (this.#counts.get(`${op} ${target}`) ?? 0) + 1
    this.#counts.set(`${op} ${target}`, nth)
    const fault = this.faults.find(
      (f) =>
        f['op'] === op &&
        f['target'] === target &&
        nth >= f['nth'] &&
        (f['times'] === -1 || nth < f['nth'] + (f['times'] ?? 1)),
    )
    const resource = op === 'list' ? `${type.kind.toLowerCase()}lists` : type.resource
    if (fault) throw faultError(fault['error'], { ...type, resource }, name)
  }
}

function operationOf({ verb, type, fieldManager }: FakeRequest): string {
  if (type.resource === 'secrets') return verb
  if (verb === 'apply') return fieldManager === lateInitManager ? 'update' : 'patch'
  return verb === 'patch' ? 'update' : verb
}

function recordedTokens(write: Vector): readonly string[] {
  // The late initialization of upstream may have nothing left to change, if the write of the finalizer included it.
  if (write['noop'] || !['finalizersAdded', 'finalizersRemoved', 'annotationsSet', 'specSet'].some((k) => k in write))
    return ['spec']
  return [
    ...(write['finalizersAdded'] ? ['finalizer added'] : []),
    ...(write['finalizersRemoved'] ? ['finalizer removed'] : []),
    ...Object.keys(write['annotationsSet'] ?? {}),
    ...(write['specSet'] ? ['spec'] : []),
  ]
}

function changedTokens({ before, after }: FakeRequest): readonly string[] {
  const had = before?.metadata.finalizers?.length ?? 0
  const has = after?.metadata.finalizers?.length ?? 0
  const notes = Object.entries(after?.metadata.annotations ?? {})
  return [
    ...(has > had ? ['finalizer added'] : []),
    ...(has < had ? ['finalizer removed'] : []),
    ...notes.filter(([name, value]) => before?.metadata.annotations?.[name] !== value).map(([name]) => name),
    ...(equal(before?.['spec'], after?.['spec']) ? [] : ['spec']),
  ]
}

/** Returns whether the writes correspond. A write that records the end of a create is identified by that alone. */
function matches(recorded: readonly string[], changed: readonly string[]): boolean {
  const ends = recorded.filter((token) => token === annotations.createSucceeded || token === annotations.createFailed)
  return (ends.length > 0 ? ends : recorded).some((token) => changed.includes(token))
}
