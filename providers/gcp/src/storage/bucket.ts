import { s } from '@crosstie/resources/provider'
import { namedOperations } from '../client/operations.js'
import { storage_v1 as api } from '../discovery/storage-v1.generated.js'
import { defineGoogle } from '../kind.js'
import { apiLabels, labelsField } from '../schema/labels.js'

const reported = [
  'etag',
  'generation',
  'hardDeleteTime',
  'id',
  'kind',
  'locationType',
  'metageneration',
  'owner',
  'projectNumber',
  'satisfiesPZI',
  'satisfiesPZS',
  'selfLink',
  'softDeleteTime',
  'timeCreated',
  'updated',
  'autoclass.toggleTime',
  'autoclass.terminalStorageClassUpdateTime',
  'iamConfiguration.uniformBucketLevelAccess.lockedTime',
  'objectRetention.mode',
  'retentionPolicy.effectiveTime',
  'softDeletePolicy.effectiveTime',
]

const ACL =
  'access control lists of single objects and users: use uniform bucket-level access with IAM, or predefinedAcl'

const upper = (a: string, b: string) => a.toUpperCase() === b.toUpperCase()

export const bucket = defineGoogle({
  api,
  schema: 'Bucket',
  group: 'storage',
  kind: 'Bucket',
  doc: 'A bucket of Cloud Storage. Names of buckets are unique among all customers of Google. Its connection Secret has `endpoint` and `bucketName`.',
  overlay: {
    leftOut: {
      name: 'the external name',
      acl: ACL,
      defaultObjectAcl: ACL,
      'iamConfiguration.bucketPolicyOnly': 'the older name of uniformBucketLevelAccess',
      'retentionPolicy.isLocked': 'a lock cannot be removed, and has a method of its own',
      kind: 'a constant',
      etag: 'sent by no request',
    },
    observed: reported,
    immutable: ['customPlacementConfig', 'hierarchicalNamespace'],
    sets: ['customPlacementConfig.dataLocations'],
    open: ['softDeletePolicy', 'iamConfiguration', 'rpo'],
    declared: {
      location: s.optional(
        s.string({ doc: 'Region, dual-region or multi-region, such as EU. Absent: US.', immutable: true, same: upper }),
      ),
    },
  },
  fields: {
    labels: labelsField(),
    predefinedAcl: s.optional(
      s.string({
        doc: 'A predefined set of access controls for a new bucket.',
        enum: ['authenticatedRead', 'private', 'projectPrivate', 'publicRead', 'publicReadWrite'],
        unreported: true,
      }),
    ),
    predefinedDefaultObjectAcl: s.optional(
      s.string({
        doc: 'A predefined set of access controls for objects of a new bucket.',
        enum: [
          'authenticatedRead',
          'bucketOwnerFullControl',
          'bucketOwnerRead',
          'private',
          'projectPrivate',
          'publicRead',
        ],
        unreported: true,
      }),
    ),
    enableObjectRetention: s.optional(
      s.boolean({ doc: 'Enable object retention in a new bucket.', unreported: true, immutable: true }),
    ),
  },
  labels: apiLabels('labels'),
  operations: namedOperations,
  methods: {
    get: 'buckets.get',
    create: 'buckets.insert',
    delete: 'buckets.delete',
    list: 'buckets.list',
    items: 'items',
  },
  permissions: {
    Observe: ['storage.buckets.get', 'storage.buckets.list'],
    Create: ['storage.buckets.create'],
    Update: ['storage.buckets.get', 'storage.buckets.update'],
    Delete: ['storage.buckets.get', 'storage.buckets.delete'],
  },
  place: (_, name) => ({ bucket: name }),
  parent: ({ project }) => ({ project }),
  create: ({ project }, name, body, { forProvider }) => ({
    method: 'buckets.insert',
    params: {
      project,
      ...textParameter(forProvider, 'predefinedAcl'),
      ...textParameter(forProvider, 'predefinedDefaultObjectAcl'),
      ...(forProvider['enableObjectRetention'] === true ? { enableObjectRetention: true } : {}),
    },
    body: { ...body, name },
  }),
  update: ({ name, changed, found }) => [
    {
      method: 'buckets.patch',
      params: { bucket: name },
      body: { ...changed, ...removedLabels(changed['labels'], found['labels']) },
    },
  ],
  location: () => 'global',
  nameOf: ({ name }) => String(name),
  ready: () => true,
  connection: ({ name }) => ({ endpoint: 'storage.googleapis.com', bucketName: String(name) }),
})

function textParameter(values: Readonly<Record<string, unknown>>, field: string) {
  const value = values[field]
  return typeof value === 'string' ? { [field]: value } : {}
}

/** A patch merges labels: null removes one. */
function removedLabels(wanted: unknown, held: unknown) {
  if (wanted === undefined) return {}
  const gone = Object.keys(Object(held)).filter((key) => !(key in Object(wanted)))
  return { labels: { ...Object(wanted), ...Object.fromEntries(gone.map((key) => [key, null])) } }
}
