import { s } from '@crosstie/resources/provider'
import { namedOperations } from '../client/operations.js'
import { iam_v1 as api } from '../discovery/iam-v1.generated.js'
import { defineGoogle, type Step } from '../kind.js'
import { withValue } from '../schema/convert.js'
import { descriptionLabels, descriptionLabelsField } from '../schema/labels.js'

const prefix = 'projects.serviceAccounts'

export const serviceAccount = defineGoogle({
  api,
  schema: 'ServiceAccount',
  group: 'iam',
  kind: 'ServiceAccount',
  doc: 'A service account. Its external name is the part of the email address before the @ sign.',
  overlay: {
    leftOut: { name: 'the external name' },
    declared: { disabled: s.optional(s.boolean({ doc: 'Refuse to authenticate it.', omittedWhenZero: true })) },
  },
  fields: { descriptionLabels: descriptionLabelsField() },
  labels: descriptionLabels,
  operations: namedOperations,
  methods: {
    get: `${prefix}.get`,
    create: `${prefix}.create`,
    delete: `${prefix}.delete`,
    list: `${prefix}.list`,
    items: 'accounts',
  },
  permissions: {
    Observe: ['iam.serviceAccounts.get', 'iam.serviceAccounts.list'],
    Create: ['iam.serviceAccounts.create'],
    Update: [
      'iam.serviceAccounts.get',
      'iam.serviceAccounts.update',
      'iam.serviceAccounts.enable',
      'iam.serviceAccounts.disable',
    ],
    Delete: ['iam.serviceAccounts.get', 'iam.serviceAccounts.delete'],
  },
  // New accounts are not visible to all servers of IAM at once.
  consistencySeconds: 60,
  place: ({ project }, name) => ({ name: nameIn(project, name) }),
  parent: ({ project }) => ({ name: `projects/${project}` }),
  create: ({ project }, name, body) => ({
    method: `${prefix}.create`,
    params: { name: `projects/${project}` },
    body: { accountId: name, serviceAccount: withValue(body, 'disabled', undefined) },
  }),
  update({ client: { project }, name, changed }) {
    const params = { name: nameIn(project, name) }
    const { disabled, ...serviceAccount } = changed
    const masks = { displayName: 'display_name', description: 'description' }
    const mask = Object.entries(masks).flatMap(([field, path]) => (field in serviceAccount ? [path] : []))
    const steps: Step[] = []
    if (mask.length > 0) {
      steps.push({ method: `${prefix}.patch`, params, body: { serviceAccount, updateMask: mask.join(',') } })
    }
    if (disabled !== undefined) {
      steps.push({ method: `${prefix}.${disabled ? 'disable' : 'enable'}`, params, body: {} })
    }
    return steps
  },
  location: () => 'global',
  nameOf: ({ email }) => String(email).replace(/@.*/, ''),
  ready: () => true,
  connection: ({ email }) => ({ email: String(email) }),
})

/** Names in full, as `someone@project.iam.gserviceaccount.com`, are passed on: accounts that Google created have such. */
function nameIn(project: string, name: string): string {
  const email = name.includes('@') ? name : `${name}@${project.replace(/^(.*):(.*)$/, '$2.$1')}.iam.gserviceaccount.com`
  return `projects/${project}/serviceAccounts/${email}`
}
