import { existsSync, readFileSync } from 'node:fs'
import { messageOf, parseApiVersion } from '@crosstie/kube'
import { annotations, type Plan, type PlannedResource, readPlan } from '@crosstie/resources'
import { type Command, EXIT_FAILED, EXIT_OK, type Input, UsageError } from '../command.js'
import { planText } from '../plan/plan-text.js'
import { planFor, planningOptions } from '../plan/planning.js'
import { type Api, openApi } from '../shared/access.js'
import { objectName } from '../shared/output.js'

const { filename: _, 'field-manager': __, force: ___, delete: ____, ...options } = planningOptions

/** The command `crosstie approve`. */
export const approve: Command = {
  name: 'approve',
  usage: 'crosstie approve PLAN.json | KIND/NAME... [--yes]',
  summary: 'Approve a plan of resources that wait for approval.',
  details: `A resource waits for approval when it, or its ProviderConfig, has the annotation
crossplane.io/approval: required. What is approved is exactly one plan: if anything moves before it is
executed, the resource waits again and says what is different. For objects that are named, the plan
is computed now and shown; --yes approves it.`,
  examples: [
    { does: 'Save a plan, review it, approve it', line: 'crosstie plan vpc/main -o json > plan.json' },
    { does: 'Approve exactly that plan', line: 'crosstie approve plan.json' },
    { does: 'Approve the current plan', line: 'crosstie approve vpc/main --yes' },
  ],
  options: { yes: { type: 'boolean', short: 'y', help: 'Approve the shown plan' }, ...options },
  exits: { [EXIT_FAILED]: 'at least one resource could not be approved' },
  completes: 'objects',
  async run(input) {
    const { words, values, out } = input
    if (words.length === 0 && !values['all']) throw new UsageError('name a saved plan, or KIND/NAME')
    const file = words.length === 1 && isPlanFile(words[0]!) ? words[0]! : undefined
    const saved = file === undefined ? undefined : planIn(file)
    using api = await openApi(input)
    if (saved) return await approveAll(input, api, saved)
    const now = await planFor(input, api)
    for (const line of planText(now, input.paint)) out(line)
    if (values['yes']) return await approveAll(input, api, now)
    if (now.resources.some(isOpen)) out('Run it again with --yes to approve this.')
    return EXIT_OK
  },
}

const isPlanFile = (word: string): boolean => word === '-' || /\.(json|ya?ml)$/.test(word) || existsSync(word)

function planIn(file: string): Plan {
  if (file !== '-' && !existsSync(file)) throw new UsageError(`the file ${file} does not exist`)
  const text = readFileSync(file === '-' ? 0 : file, 'utf8')
  try {
    return readPlan(JSON.parse(text))
  } catch (error) {
    throw new UsageError(`${file} is not a plan of 'crosstie plan -o json': ${messageOf(error)}`)
  }
}

const isOpen = ({ approval, digest }: PlannedResource): boolean =>
  digest !== undefined && (approval === 'Required' || approval === 'Stale')

async function approveAll(input: Input, api: Api, plan: Plan): Promise<number> {
  const { out, err } = input
  let failed = 0
  for (const resource of plan.resources.filter(isOpen)) {
    try {
      await approveOne(input, api, resource)
      out(`${labelOf(resource)} approved: ${resource.outcome} (${resource.digest})`)
    } catch (error) {
      failed++
      err(`error: ${labelOf(resource)}: ${messageOf(error)}`)
    }
  }
  const unknown = plan.resources.filter(({ approval, digest, steps }) => {
    return approval !== 'NotRequired' && digest === undefined && steps.some(({ action }) => action === 'create')
  })
  for (const resource of unknown) {
    err(`${labelOf(resource)} cannot be approved yet: it depends on resources that do not exist yet`)
  }
  if (failed === 0 && !plan.resources.some(isOpen)) out('Nothing in the plan waits for approval.')
  return failed + unknown.length > 0 ? EXIT_FAILED : EXIT_OK
}

async function approveOne({ signal }: Input, api: Api, resource: PlannedResource): Promise<void> {
  const kind = (await api.kinds()).ofAnyVersion(resource)
  if (!kind) throw new Error(`the server does not serve ${resource.kind} in ${resource.apiVersion}`)
  const { name, namespace, digest } = resource
  const patch = { metadata: { annotations: { [annotations.approvedPlan]: digest! } } }
  await api.client.patch(kind, { name, ...(namespace ? { namespace } : {}) }, { type: 'merge', patch }, { signal })
}

function labelOf({ apiVersion, kind, name }: PlannedResource): string {
  const { group = '', version = '' } = parseApiVersion(apiVersion) ?? {}
  return objectName({ group, version, kind, resource: '', namespaced: false }, name)
}
