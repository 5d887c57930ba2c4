import {
  AttachRolePolicyCommand,
  CreateRoleCommand,
  DeleteRoleCommand,
  DeleteRolePermissionsBoundaryCommand,
  DeleteRolePolicyCommand,
  DetachRolePolicyCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  IAMClient,
  PutRolePermissionsBoundaryCommand,
  PutRolePolicyCommand,
  paginateGetAccountAuthorizationDetails,
  paginateListAttachedRolePolicies,
  paginateListRolePolicies,
  paginateListRoles,
  type Role,
  type RoleDetail,
  TagRoleCommand,
  UntagRoleCommand,
  UpdateAssumeRolePolicyCommand,
  UpdateRoleCommand,
} from '@aws-sdk/client-iam'
import { absent, defineManaged, present, s } from '@crosstie/resources/provider'
import { connectTo } from '../clients.js'
import { providerConfig } from '../config.js'
import { unlessNotFound } from '../errors.js'
import { policyDocument, tags } from '../fields.js'
import { collect } from '../pages.js'
import { partly } from '../partly.js'
import { type Tags, tagChanges, tagList, tagsOf } from '../tags.js'

const parameters = s.object({
  path: s.optional(s.string({ doc: 'Path of the name, such as /teams/net/.', immutable: true })),
  assumeRolePolicyDocument: policyDocument('Who may take on the role, as a policy in JSON.'),
  description: s.optional(s.string({ doc: 'What it is for.', maxLength: 1000 })),
  maxSessionDuration: s.optional(
    s.integer({ doc: 'How many seconds a session may last.', minimum: 3600, maximum: 43_200 }),
  ),
  permissionsBoundary: s.optional(
    s.string({ doc: 'ARN of the policy that limits what the role may ever do. Empty: none.', lateInitialize: false }),
  ),
  inlinePolicies: s.optional(
    s.list(
      s.object({
        policyName: s.string({ doc: 'Its name.' }),
        policyDocument: policyDocument('What the role may do, as a policy in JSON.'),
      }),
      { keys: ['policyName'], doc: 'Policies of the role itself. Others are removed.', lateInitialize: false },
    ),
  ),
  managedPolicyArns: s.optional(
    s.list(s.string(), {
      set: true,
      doc: 'ARNs of managed policies that are attached. Others are detached.',
      lateInitialize: false,
    }),
  ),
  tags: tags(),
})

const observation = s.object({
  arn: s.string({ doc: 'Its ARN.' }),
  roleId: s.string({ doc: 'The id that AWS gave it.' }),
  createDate: s.string({ doc: 'When it was made.' }),
})

const iam = connectTo(IAMClient)

/** The managed kind for IAM roles. */
export const role = defineManaged({
  group: 'iam.aws.crossplane.io',
  version: 'v1beta1',
  kind: 'Role',
  doc: 'What a service, a person or an application may take on to be allowed something.',
  categories: ['crossplane', 'managed', 'aws'],
  parameters,
  observation,
  naming: 'user-chosen',
  tags: { field: 'tags' },
  providerConfig,
  permissions: {
    Observe: [
      'iam:GetRole',
      'iam:ListRolePolicies',
      'iam:GetRolePolicy',
      'iam:ListAttachedRolePolicies',
      'iam:ListRoles',
      'iam:GetAccountAuthorizationDetails',
    ],
    Create: ['iam:CreateRole', 'iam:TagRole', 'iam:PutRolePolicy', 'iam:AttachRolePolicy'],
    Update: [
      'iam:UpdateRole',
      'iam:UpdateAssumeRolePolicy',
      'iam:PutRolePermissionsBoundary',
      'iam:DeleteRolePermissionsBoundary',
      'iam:PutRolePolicy',
      'iam:DeleteRolePolicy',
      'iam:AttachRolePolicy',
      'iam:DetachRolePolicy',
      'iam:TagRole',
      'iam:UntagRole',
    ],
    Delete: ['iam:DetachRolePolicy', 'iam:DeleteRolePolicy', 'iam:DeleteRole'],
    LateInitialize: [],
  },

  connect: iam,

  async observe({ client, externalName: RoleName, signal: abortSignal }) {
    const found = await unlessNotFound(client.send(new GetRoleCommand({ RoleName }), { abortSignal }))
    if (!found?.Role) return absent
    return observed(found.Role, found.Role, await policiesOf(client, RoleName, abortSignal))
  },

  /** Combines two list calls, because each omits fields that the other returns. */
  async list({ client, signal: abortSignal }) {
    const details = paginateGetAccountAuthorizationDetails({ client }, { Filter: ['Role'] }, { abortSignal })
    const byName = new Map<string, RoleDetail>()
    for (const each of await collect(details, ({ RoleDetailList }) => RoleDetailList)) byName.set(each.RoleName!, each)
    const roles = await collect(paginateListRoles({ client }, {}, { abortSignal }), ({ Roles }) => Roles)
    return roles.flatMap((each) => {
      const detail = byName.get(each.RoleName!)
      if (!detail) return []
      const inlinePolicies = (detail.RolePolicyList ?? []).map(({ PolicyName, PolicyDocument }) => ({
        policyName: PolicyName ?? '',
        policyDocument: readable(PolicyDocument),
      }))
      const managedPolicyArns = (detail.AttachedManagedPolicies ?? []).map(({ PolicyArn }) => PolicyArn ?? '').sort()
      return [observed(each, detail, { inlinePolicies: inlinePolicies.sort(byPolicyName), managedPolicyArns })]
    })
  },

  async create({ client, externalName: RoleName, forProvider, tags, signal: abortSignal }) {
    await client.send(
      new CreateRoleCommand({
        RoleName,
        Path: forProvider.path,
        AssumeRolePolicyDocument: forProvider.assumeRolePolicyDocument,
        Description: forProvider.description,
        MaxSessionDuration: forProvider.maxSessionDuration,
        PermissionsBoundary: forProvider.permissionsBoundary || undefined,
        Tags: tagList(tags),
      }),
      { abortSignal },
    )
    await partly(RoleName, () => setPolicies(client, RoleName, forProvider, nothing, abortSignal))
    return {}
  },

  async update({ client, externalName: RoleName, forProvider, changed, removed, signal: abortSignal }) {
    if (changed.assumeRolePolicyDocument) {
      const PolicyDocument = changed.assumeRolePolicyDocument
      await client.send(new UpdateAssumeRolePolicyCommand({ RoleName, PolicyDocument }), { abortSignal })
    }
    if (changed.description !== undefined || changed.maxSessionDuration) {
      // Unset fields are treated as empty.
      const { description: Description, maxSessionDuration: MaxSessionDuration } = forProvider
      await client.send(new UpdateRoleCommand({ RoleName, Description, MaxSessionDuration }), { abortSignal })
    }
    await setBoundary(client, RoleName, changed.permissionsBoundary, abortSignal)
    if (changed.inlinePolicies || changed.managedPolicyArns) {
      const held = await policiesOf(client, RoleName, abortSignal)
      await setPolicies(client, RoleName, forProvider, held, abortSignal)
    }
    const retag = tagChanges({ changed, removed })
    if (retag) await setTags(client, RoleName, retag, abortSignal)
  },

  async delete({ client, externalName: RoleName, signal: abortSignal }) {
    const held = await unlessNotFound(policiesOf(client, RoleName, abortSignal))
    if (!held) return
    await setPolicies(client, RoleName, nothing, held, abortSignal)
    await unlessNotFound(client.send(new DeleteRoleCommand({ RoleName }), { abortSignal }))
  },
})

interface Policies {
  readonly inlinePolicies?: readonly { readonly policyName: string; readonly policyDocument: string }[] | undefined
  readonly managedPolicyArns?: readonly string[] | undefined
}

const nothing: Policies = { inlinePolicies: [], managedPolicyArns: [] }

/** Converts a role from the result of `ListRoles` and from its details. */
function observed(
  told: Role,
  more: Pick<Role, 'PermissionsBoundary' | 'Tags' | 'AssumeRolePolicyDocument'>,
  policies: Policies,
) {
  return present({
    externalName: told.RoleName!,
    ready: true,
    connection: { arn: told.Arn },
    atProvider: {
      path: told.Path,
      assumeRolePolicyDocument: readable(told.AssumeRolePolicyDocument ?? more.AssumeRolePolicyDocument),
      description: told.Description ?? '',
      maxSessionDuration: told.MaxSessionDuration,
      permissionsBoundary: more.PermissionsBoundary?.PermissionsBoundaryArn ?? '',
      ...policies,
      tags: tagsOf(more.Tags),
      arn: told.Arn,
      roleId: told.RoleId,
      createDate: told.CreateDate?.toISOString(),
    },
  })
}

/** Decodes a policy. IAM returns policies URL-encoded. */
const readable = (document = ''): string => (document.startsWith('%') ? decodeURIComponent(document) : document)

const byPolicyName = (a: { policyName: string }, b: { policyName: string }) => (a.policyName < b.policyName ? -1 : 1)

async function policiesOf(client: IAMClient, RoleName: string, abortSignal: AbortSignal): Promise<Policies> {
  const names = paginateListRolePolicies({ client }, { RoleName }, { abortSignal })
  const attached = paginateListAttachedRolePolicies({ client }, { RoleName }, { abortSignal })
  const inlinePolicies = await Promise.all(
    (await collect(names, ({ PolicyNames }) => PolicyNames)).map(async (PolicyName) => {
      const found = await client.send(new GetRolePolicyCommand({ RoleName, PolicyName }), { abortSignal })
      return { policyName: PolicyName, policyDocument: readable(found.PolicyDocument) }
    }),
  )
  const managed = await collect(attached, ({ AttachedPolicies }) => AttachedPolicies)
  return {
    inlinePolicies: inlinePolicies.sort(byPolicyName),
    managedPolicyArns: managed.map(({ PolicyArn }) => PolicyArn ?? '').sort(),
  }
}

/** Attaches new policies before it removes old ones, so that permitted actions are never denied. */
async function setPolicies(
  client: IAMClient,
  RoleName: string,
  wanted: Policies,
  held: Policies,
  abortSignal: AbortSignal,
): Promise<void> {
  const { inlinePolicies, managedPolicyArns } = wanted
  const was = { inline: held.inlinePolicies ?? [], managed: held.managedPolicyArns ?? [] }
  for (const { policyName: PolicyName, policyDocument: PolicyDocument } of inlinePolicies ?? []) {
    if (was.inline.some((each) => each.policyName === PolicyName && each.policyDocument === PolicyDocument)) continue
    await client.send(new PutRolePolicyCommand({ RoleName, PolicyName, PolicyDocument }), { abortSignal })
  }
  for (const PolicyArn of (managedPolicyArns ?? []).filter((arn) => !was.managed.includes(arn))) {
    await client.send(new AttachRolePolicyCommand({ RoleName, PolicyArn }), { abortSignal })
  }
  const unwanted = inlinePolicies
    ? was.inline.filter(({ policyName }) => !inlinePolicies.some((each) => each.policyName === policyName))
    : []
  for (const { policyName: PolicyName } of unwanted) {
    await unlessNotFound(client.send(new DeleteRolePolicyCommand({ RoleName, PolicyName }), { abortSignal }))
  }
  for (const PolicyArn of managedPolicyArns ? was.managed.filter((arn) => !managedPolicyArns.includes(arn)) : []) {
    await unlessNotFound(client.send(new DetachRolePolicyCommand({ RoleName, PolicyArn }), { abortSignal }))
  }
}

async function setBoundary(
  client: IAMClient,
  RoleName: string,
  boundary: string | undefined,
  abortSignal: AbortSignal,
): Promise<void> {
  if (boundary === undefined) return
  if (boundary === '') {
    await unlessNotFound(client.send(new DeleteRolePermissionsBoundaryCommand({ RoleName }), { abortSignal }))
    return
  }
  const put = new PutRolePermissionsBoundaryCommand({ RoleName, PermissionsBoundary: boundary })
  await client.send(put, { abortSignal })
}

async function setTags(
  client: IAMClient,
  RoleName: string,
  { set, unset }: { readonly set: Tags; readonly unset: readonly string[] },
  abortSignal: AbortSignal,
): Promise<void> {
  if (Object.keys(set).length > 0)
    await client.send(new TagRoleCommand({ RoleName, Tags: tagList(set) }), { abortSignal })
  if (unset.length > 0) await client.send(new UntagRoleCommand({ RoleName, TagKeys: [...unset] }), { abortSignal })
}
