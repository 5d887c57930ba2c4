import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modification } from './modify.js'
import { atProviderOf } from './report.js'

type Wanted = Parameters<typeof modification>[1]

const base = { region: 'r', dbInstanceClass: 'db.t4g.micro', engine: 'postgres' } as Wanted

interface Case {
  readonly because: string
  readonly wanted?: Partial<Wanted>
  readonly changed: readonly (keyof Wanted)[]
  readonly is?: Parameters<typeof modification>[2]
  readonly input: object | undefined
}

const cases: Readonly<Record<string, Case>> = {
  Tags: { because: 'tags are changed by calls of their own', changed: ['tags'], input: undefined },
  Port: {
    because: 'it has another name here',
    wanted: { port: 5433 },
    changed: ['port'],
    input: { DBPortNumber: 5433 },
  },
  Manner: {
    because: 'how the change is made goes with it',
    wanted: { applyImmediately: true, allowMajorVersionUpgrade: true, engineVersion: '17' },
    changed: ['engineVersion'],
    input: { EngineVersion: '17', ApplyImmediately: true, AllowMajorVersionUpgrade: true },
  },
  Storage: {
    because: 'AWS wants all of it',
    wanted: { storageType: 'gp3', allocatedStorage: 400, iops: 12000 },
    changed: ['iops'],
    input: { StorageType: 'gp3', AllocatedStorage: 400, Iops: 12000 },
  },
  Logs: {
    because: 'they are turned on and off one by one',
    wanted: { enableCloudwatchLogsExports: ['upgrade'] },
    changed: ['enableCloudwatchLogsExports'],
    is: { EnabledCloudwatchLogsExports: ['postgresql'] },
    input: { CloudwatchLogsExportConfiguration: { EnableLogTypes: ['upgrade'], DisableLogTypes: ['postgresql'] } },
  },
  Volumes: {
    because: 'one that is not wanted is marked for deletion',
    wanted: { additionalStorageVolumes: [{ volumeName: 'rdsdbdata2', allocatedStorage: 100 }] },
    changed: ['additionalStorageVolumes'],
    is: { AdditionalStorageVolumes: [{ VolumeName: 'rdsdbdata2' }, { VolumeName: 'rdsdbdata3' }] },
    input: {
      AdditionalStorageVolumes: [
        { VolumeName: 'rdsdbdata2', AllocatedStorage: 100 },
        { VolumeName: 'rdsdbdata3', SetForDelete: true },
      ],
    },
  },
  ManagedPassword: {
    because: 'AWS keeps the password, so that ours is not sent',
    wanted: { manageMasterUserPassword: true, masterUserPassword: 'ours' },
    changed: ['manageMasterUserPassword'],
    input: { ManageMasterUserPassword: true },
  },
}

for (const [name, { because, wanted, changed, is, input }] of Object.entries(cases)) {
  test(`a database is modified as AWS wants to be asked: ${name}`, () => {
    const all = { ...base, ...wanted } as Wanted
    const differing = Object.fromEntries(changed.map((field) => [field, all[field] ?? {}]))
    assert.deepEqual(modification(differing, all, is ?? {}), input, because)
  })
}

test('what waits for the maintenance window counts as changed, and the starred password is not shown', () => {
  const told = atProviderOf({
    DBInstanceClass: 'db.t4g.micro',
    PendingModifiedValues: { DBInstanceClass: 'db.t4g.large', MasterUserPassword: '****', Port: 5433 },
  })
  assert.equal(told['dbInstanceClass'], 'db.t4g.large')
  assert.equal(told['port'], 5433)
  assert.deepEqual(told['pendingModifiedValues'], { dbInstanceClass: 'db.t4g.large', port: 5433 })
})
