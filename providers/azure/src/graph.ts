import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { type AzureClient, connect } from './client.js'
import { providerConfig } from './config.js'
import { troubleOf, unlessNotFound } from './errors.js'
import { choice, text } from './fields.js'
import { defined, textOf, type Values } from './values.js'

const ids = (doc: string) => s.optional(s.list(s.string(), { set: true, lateInitialize: false, doc }))

const parameters = s.object({
  displayName: s.string({ doc: 'Name of the group for people.' }),
  description: text('Purpose of the group.'),
  mailNickname: s.string({ doc: 'The alias for mail, unique in the tenant.', pattern: '^[^@()\\[\\]";:<>, ]{1,64}$' }),
  mailEnabled: s.boolean({ doc: 'Whether the group receives mail. True for Microsoft 365 groups.', immutable: true }),
  securityEnabled: s.boolean({ doc: 'Whether the group gives access to resources.' }),
  groupTypes: s.optional(
    s.list(s.string(), {
      set: true,
      immutable: true,
      doc: 'Unified for Microsoft 365 groups, DynamicMembership for rules.',
    }),
  ),
  visibility: choice('Who sees the members.', ['Private', 'Public', 'HiddenMembership']),
  isAssignableToRole: s.optional(
    s.boolean({ doc: 'Whether roles of the directory can be assigned.', immutable: true }),
  ),
  membershipRule: text('The rule of a dynamic group.'),
  membershipRuleProcessingState: choice('Whether the rule is applied.', ['On', 'Paused']),
  members: ids('Object ids of the members. Absent: left alone. Given: others are removed.'),
  owners: ids('Object ids of the owners. Absent: left alone. Given: others are removed.'),
})

const observation = s.object({
  id: s.string({ doc: 'Object id of the group.' }),
  uniqueName: s.string({ doc: 'The name by which an interrupted create finds its group.' }),
  createdDateTime: s.string({ doc: 'When the group was created.' }),
})

type Relation = 'members' | 'owners'

const CONSISTENCY_MS = 60_000

/** Changes that reads may not show yet, by group and relation. Without them, an update would be sent again and again. */
const sent = new Map<string, { readonly ids: readonly string[]; readonly until: number }>()

function noteSent(id: string, relation: Relation, ids: readonly string[]): void {
  const now = Date.now()
  for (const [key, { until }] of sent) if (until <= now) sent.delete(key)
  sent.set(`${id}/${relation}`, { ids: [...ids].sort(), until: now + CONSISTENCY_MS })
}

/** The ids that were sent, until reads had time to show them. */
const justSent = (id: string, relation: Relation): readonly string[] | undefined => {
  const held = sent.get(`${id}/${relation}`)
  return held && held.until > Date.now() ? held.ids : undefined
}

/** A group of Microsoft Entra ID. Changes become visible a while after they were accepted. */
export const group = defineManaged({
  group: 'graph.azure.crossplane.io',
  version: 'v1beta1',
  kind: 'Group',
  doc: 'A group of Microsoft Entra ID with its members and owners. Microsoft Graph v1.0. This kind has not run on the real cloud yet. Fields for licenses, themes and mail settings are left out: they are set in Exchange and in the admin center.',
  categories: ['crossplane', 'managed', 'azure'],
  parameters,
  observation,
  naming: 'provider-assigned',
  token: true,
  consistencySeconds: 60,
  providerConfig,
  permissions: {
    Observe: ['Group.Read.All', 'GroupMember.Read.All'],
    Create: ['Group.ReadWrite.All'],
    Update: ['Group.ReadWrite.All', 'GroupMember.ReadWrite.All'],
    Delete: ['Group.ReadWrite.All'],
    LateInitialize: [],
  },
  connect,

  async observe({ client, externalName, signal }) {
    if (externalName === '') return absent
    const found = await unlessNotFound(
      client.send({ method: 'GET', path: at(client, externalName), action: 'Group.Read.All', signal }),
    )
    return found ? await seen(client, found.body, signal) : absent
  },

  async list({ client, signal }) {
    const found = await client.list({ path: at(client), action: 'Group.Read.All', signal })
    return await Promise.all(found.map((body) => seen(client, body, signal)))
  },

  async create({ client, forProvider, token, signal }) {
    const held = await byUniqueName(client, token, signal)
    if (held !== undefined) return { externalName: held }
    const { members = [], owners = [], ...rest } = forProvider
    const bind = (list: readonly string[]) => list.map((id) => `${client.graph}/v1.0/directoryObjects/${id}`)
    const body = {
      ...rest,
      uniqueName: token,
      ...(members.length > 0 ? { 'members@odata.bind': bind(members) } : {}),
      ...(owners.length > 0 ? { 'owners@odata.bind': bind(owners) } : {}),
    }
    const answer = await client.send({ method: 'POST', path: at(client), body, action: 'Group.ReadWrite.All', signal })
    const externalName = textOf(answer.body['id']) ?? ''
    noteSent(externalName, 'members', members)
    noteSent(externalName, 'owners', owners)
    return { externalName }
  },

  async update({ client, externalName, changed, signal }) {
    const { members, owners, ...rest } = changed
    const body = defined(rest)
    const path = at(client, externalName)
    if (Object.keys(body).length > 0)
      await client.send({ method: 'PATCH', path, body, action: 'Group.ReadWrite.All', signal })
    if (members) await relate(client, externalName, 'members', members, signal)
    if (owners) await relate(client, externalName, 'owners', owners, signal)
  },

  async delete({ client, externalName, signal }) {
    await unlessNotFound(
      client.send({ method: 'DELETE', path: at(client, externalName), action: 'Group.ReadWrite.All', signal }),
    )
  },
})

const at = ({ graph }: AzureClient, ...words: readonly string[]): string =>
  [`${graph}/v1.0/groups`, ...words.map(encodeURIComponent)].join('/')

async function byUniqueName(client: AzureClient, name: string, signal: AbortSignal): Promise<string | undefined> {
  const path = `${at(client)}?$filter=${encodeURIComponent(`uniqueName eq '${name}'`)}`
  const [found] = await client.list({ path, action: 'Group.Read.All', signal })
  return textOf(found?.['id'])
}

async function related(client: AzureClient, id: string, relation: Relation, signal: AbortSignal) {
  const found = await client.list({
    path: `${at(client, id)}/${relation}?$select=id`,
    action: 'GroupMember.Read.All',
    signal,
  })
  return found.flatMap((each) => textOf(each['id']) ?? []).sort()
}

async function seen(client: AzureClient, body: Values, signal: AbortSignal) {
  const id = textOf(body['id']) ?? ''
  const read = async (relation: Relation) => justSent(id, relation) ?? (await related(client, id, relation, signal))
  const [members, owners] = await Promise.all([read('members'), read('owners')])
  const names = [...Object.keys(parameters.fields), ...Object.keys(observation.fields)]
  const known = Object.entries(body).filter(([name, value]) => names.includes(name) && value !== null)
  return present({ externalName: id, ready: true, atProvider: { ...Object.fromEntries(known), members, owners } })
}

/** Adds before it removes: a group must keep an owner. */
async function relate(
  client: AzureClient,
  id: string,
  relation: Relation,
  wanted: readonly string[],
  signal: AbortSignal,
) {
  const held = await related(client, id, relation, signal)
  const action = 'GroupMember.ReadWrite.All'
  for (const each of wanted.filter((one) => !held.includes(one))) {
    const body = { '@odata.id': `${client.graph}/v1.0/directoryObjects/${each}` }
    const request = { method: 'POST' as const, path: `${at(client, id)}/${relation}/$ref`, body, action, signal }
    await client.send(request).catch(unlessDone)
  }
  for (const each of held.filter((one) => !wanted.includes(one))) {
    await unlessNotFound(
      client.send({ method: 'DELETE', path: `${at(client, id)}/${relation}/${each}/$ref`, action, signal }),
    )
  }
  noteSent(id, relation, wanted)
}

/** A change that reads do not show yet is refused as a repetition. */
function unlessDone(error: unknown): void {
  if (troubleOf(error) !== 'invalid' || !/already exist/.test(String(error))) throw error
}
