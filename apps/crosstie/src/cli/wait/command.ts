import type { KubeObject } from '@crosstie/kube'
import { type Command, EXIT_OK, EXIT_TIMEOUT, type Input, textOf, UsageError } from '../command.js'
import { type Api, accessOptions, namespaceOptions, openApi } from '../shared/access.js'
import { durationOf } from '../shared/duration.js'
import type { ServedKind, Target } from '../shared/kinds.js'
import { listAll } from '../shared/objects.js'
import { objectName } from '../shared/output.js'
import { type Aim, parseAim, statesOf } from './wait.js'

/** The command `crosstie wait`. */
export const wait: Command = {
  name: 'wait',
  usage: 'crosstie wait KIND/NAME... --for CONDITION [--timeout DURATION]',
  summary: 'Wait for a condition of objects.',
  details: `CONDITION is condition=TYPE (or condition=TYPE=STATUS), delete, create, or jsonpath='{.PATH}'=VALUE.\nWith KIND instead of KIND/NAME: all objects of the kind that exist at the start.`,
  examples: [
    { does: 'A database that is ready', line: 'crosstie wait postgresqlinstance/app --for condition=Ready' },
    { does: 'All managed resources', line: 'crosstie wait managed --for condition=Ready --timeout 10m' },
    { does: 'A field', line: "crosstie wait postgresqlinstance/app --for jsonpath='{.status.bindingPhase}'=Bound" },
  ],
  options: {
    for: { type: 'string', value: 'CONDITION', help: 'The condition to wait for', default: 'condition=Ready' },
    timeout: { type: 'string', value: 'DURATION', help: 'The timeout; 0 checks once', default: '60s' },
    ...namespaceOptions,
    'all-namespaces': { type: 'boolean', short: 'A', help: 'With KIND: in every namespace' },
    selector: { type: 'string', short: 'l', value: 'LABELS', help: 'With KIND: only objects with these labels' },
    ...accessOptions,
  },
  exits: { 3: 'an object does not exist', 4: 'the timeout expired' },
  completes: 'objects',
  async run(input) {
    const { values, words, out, err, progress } = input
    const aim = parseAim(String(values['for']))
    const timeoutMs = durationOf('--timeout', String(values['timeout']), { zero: true })
    using api = await openApi(input)
    const objects = await named(input, api, (await api.kinds()).targets(words))
    const late: string[] = []
    const waiting = new Map<string, string>()
    await Promise.all(
      objects.map(async ({ kind, object }) => {
        const name = objectName(kind, object.metadata.name!)
        const tell = (state: string) => {
          waiting.set(name, state)
          progress.say(`waiting for ${waiting.size} of ${objects.length}: ${name} ${aim.text}; ${state}`)
        }
        const state = await until(api, kind, object, aim, timeoutMs, tell, input.signal)
        waiting.delete(name)
        if (state === undefined) out(`${name} ${metText(aim)}`)
        else late.push(`${name}: ${state}`)
      }),
    )
    input.signal.throwIfAborted()
    progress.stop()
    for (const line of late) err(line)
    if (late.length === 0) return EXIT_OK
    err(`Not in ${values['timeout']}; 'crosstie describe' and 'crosstie trace' tell more, --timeout waits longer.`)
    return EXIT_TIMEOUT
  },
}

const metText = ({ text }: Aim): string => (text === 'to be gone' ? 'is gone' : text.replace(/^to have /, 'has '))

interface Found {
  readonly kind: ServedKind
  readonly object: KubeObject
}

/** Returns the objects to wait for. Objects to be created or deleted need not exist. */
async function named({ values, signal }: Input, api: Api, targets: readonly Target[]): Promise<readonly Found[]> {
  const labelSelector = textOf(values, 'selector')
  const mayBeAbsent = values['for'] === 'delete' || values['for'] === 'create'
  const found: Found[] = []
  for (const { kind, name } of targets) {
    if (name && mayBeAbsent) {
      found.push({ kind, object: { apiVersion: '', kind: kind.kind, metadata: api.keyOf(kind, name) } })
    } else if (name) {
      found.push({ kind, object: await api.client.get(kind, api.keyOf(kind, name), { signal }) })
    } else {
      const namespace = kind.namespaced && !values['all-namespaces'] ? api.namespace : undefined
      const all = await listAll(api.client, kind, { ...(namespace ? { namespace } : {}), labelSelector, signal })
      found.push(...all.map((object) => ({ kind, object })))
    }
  }
  if (found.length === 0) throw new UsageError('there is no object to wait for')
  return found
}

/** Returns undefined if the condition was met, otherwise the state at the timeout. */
async function until(
  api: Api,
  kind: ServedKind,
  { metadata: { name = '', namespace } }: KubeObject,
  aim: Aim,
  timeoutMs: number,
  tell: (state: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const over = new AbortController()
  const stop = () => over.abort()
  // A timeout of 0 checks once and does not race with a timer.
  const timer = timeoutMs > 0 ? setTimeout(stop, timeoutMs) : undefined
  signal.addEventListener('abort', stop)
  let state = 'the server did not answer in time'
  try {
    for await (const object of statesOf(api, kind, { name, ...(namespace ? { namespace } : {}) }, over.signal)) {
      if (aim.reached(object)) return undefined
      state = aim.state(object)
      tell(state)
      if (timeoutMs === 0) return state
    }
  } catch (error) {
    if (!over.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    over.abort()
  }
  return state
}
