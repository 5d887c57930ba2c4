import { existsSync, readFileSync } from 'node:fs'
import { messageOf, parseApiVersion } from '@crosstie/kube'
import { annotations, hasErrors, type Plan, type PlannedResource, readPlan } from '@crosstie/resources'
import { type Command, EXIT_FAILED, EXIT_OK, type Input, textOf, UsageError } from '../command.js'
import { planText } from '../plan/plan-text.js'
import { planFor, planningOptions } from '../plan/planning.js'
import { type Api, openApi } from '../shared/access.js'
import { objectName } from '../shared/output.js'

/** `sha256:` and enough of it to be one plan. */
const DIGEST_MIN = 15

const { filename: _, 'field-manager': __, force: ___, delete: ____, ...options } = planningOptions

/** The command `crosstie approve`. */
export const approve: Command = {
  name: 'approve',
  usage: 'crosstie approve PLAN.json | KIND/NAME... [--yes | --digest DIGEST]',
  summary: 'Approve exactly one plan of each resource that waits for approval.',
  details: `A resource waits for approval when it, or its ProviderConfig, has the annotation
crossplane.io/approval: required. An approval is for one plan and one execution: if anything changes before the
plan is executed, the resource waits again and reports the difference. For objects that you name, the control plane
computes the plan and the command shows it. --digest approves the plan with this digest, which an earlier plan showed,
and nothing else; --yes approves the plan that is shown now. Approving needs the verb approve on the kind
(ClusterRole crosstie:plans:approve).`,
  examples: [
    { does: 'Save a plan to review it', line: 'crosstie plan vpc/main -o json > plan.json' },
    { does: 'Approve the saved plan, and nothing else', line: 'crosstie approve plan.json' },
    { does: 'Approve the plan that you were shown', line: 'crosstie approve vpc/main --digest sha256:4f…' },
    { does: 'Approve whatever the plan is now', line: 'crosstie approve vpc/main --yes' },
  ],
  options: {
    yes: { type: 'boolean', short: 'y', help: 'Approve the plan that is shown' },
    digest: {
      type: 'string',
      value: 'DIGEST',
      help: 'Approve only the plan with this digest, or one that starts with it',
    },
    ...options,
  },
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
    const digest = textOf(values, 'digest')
    if (digest !== undefined) return await approveAll(input, api, onlyDigest(now, digest))
    if (values['yes']) return await approveAll(input, api, now)
    for (const resource of now.resources.filter(isOpen)) {
      out(`To approve this plan: crosstie approve ${labelOf(resource)} --digest ${resource.digest}`)
    }
    return hasErrors(now) ? EXIT_FAILED : EXIT_OK
  },
}

/** The part of a plan that was shown before. Throws when the plan is another one by now. */
function onlyDigest(plan: Plan, digest: string): Plan {
  const resources = plan.resources.filter((resource) => isOpen(resource) && resource.digest?.startsWith(digest))
  if (digest.length < DIGEST_MIN || resources.length !== 1) {
    throw new Error(
      `no plan that waits for approval has the digest ${digest}: the plan that is shown now is another one`,
    )
  }
  return { ...plan, resources }
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
  const key = { name, ...(namespace ? { namespace } : {}) }
  const { metadata } = await api.client.get(kind, key, { signal })
  if (metadata.annotations?.[annotations.executedPlan] === digest) {
    throw new Error('this plan was executed already. Run crosstie plan to see what is left to do')
  }
  const patch = { metadata: { annotations: { [annotations.approvedPlan]: digest! } } }
  await api.client.patch(kind, key, { type: 'merge', patch }, { signal })
}

function labelOf({ apiVersion, kind, name }: PlannedResource): string {
  const { group = '', version = '' } = parseApiVersion(apiVersion) ?? {}
  return objectName({ group, version, kind, resource: '', namespaced: false }, name)
}
