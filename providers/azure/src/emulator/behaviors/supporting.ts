import { randomUUID } from 'node:crypto'
import { at, merged, textOf, type Values, valuesOf } from '../../values.js'
import { type Behavior, done } from '../behavior.js'
import { fact } from '../facts.js'
import { lastName } from '../resource-id.js'
import type { Stored, World } from '../world.js'

const timeOf = ({ createdAt }: Stored): string => new Date(createdAt).toISOString()

function showAccount(resource: Stored, _: World, apiVersion: string): Values {
  const { target, body, location } = resource
  const name = lastName(target)
  const created = timeOf(resource)
  const service = { keyType: 'Account', enabled: true, lastEnabledTime: created }
  const host = (part: string) => `https://${name}.${part}.core.windows.net/`
  const sku = valuesOf(body['sku'])
  return {
    sku: { ...sku, tier: textOf(sku['name'])?.split('_')[0] },
    kind: body['kind'],
    properties: merged(
      {
        keyCreationTime: { key1: created, key2: created },
        ...(apiVersion >= '2021-04-01'
          ? { allowCrossTenantReplication: false, minimumTlsVersion: 'TLS1_2', allowBlobPublicAccess: false }
          : {}),
        privateEndpointConnections: [],
        networkAcls: { bypass: 'AzureServices', virtualNetworkRules: [], ipRules: [], defaultAction: 'Allow' },
        supportsHttpsTrafficOnly: true,
        encryption: { services: { file: service, blob: service }, keySource: 'Microsoft.Storage' },
        provisioningState: 'Succeeded',
        creationTime: created,
        primaryEndpoints: Object.fromEntries(
          ['dfs', 'web', 'blob', 'queue', 'table', 'file'].map((part) => [
            part,
            host(part === 'web' ? 'z5.web' : part),
          ]),
        ),
        primaryLocation: location,
        statusOfPrimary: 'available',
      },
      valuesOf(body['properties']),
    ),
  }
}

function showVault(resource: Stored, world: World): Values {
  const { target, body } = resource
  const time = timeOf(resource)
  const by = { createdBy: 'user@example.org', createdByType: 'User', createdAt: time }
  return {
    systemData: { ...by, lastModifiedBy: 'user@example.org', lastModifiedByType: 'User', lastModifiedAt: time },
    properties: {
      tenantId: world.options.tenant,
      enableSoftDelete: true,
      softDeleteRetentionInDays: 90,
      enableRbacAuthorization: false,
      ...withoutMode(valuesOf(body['properties'])),
      vaultUri: `https://${lastName(target)}.vault.azure.net/`,
      provisioningState: 'Succeeded',
      publicNetworkAccess: 'Enabled',
    },
  }
}

const withoutMode = ({ createMode: _, ...rest }: Values): Values => rest

/** Resources of other services that databases and networks refer to. */
export const supporting: Readonly<Record<string, Behavior>> = {
  'Microsoft.ManagedIdentity/userAssignedIdentities': {
    create: done(201, 'resource'),
    update: done(200, 'resource'),
    remove: done(200),
    location: 'short',
    tags: 'always',
    lowerGroup: true,
    show: ({ facts }, world) => ({
      properties: {
        tenantId: world.options.tenant,
        principalId: fact(facts, 'principalId', () => randomUUID()),
        clientId: fact(facts, 'clientId', () => randomUUID()),
      },
    }),
  },
  'Microsoft.Storage/storageAccounts': {
    create: {
      status: 202,
      polling: {
        result:
          '/subscriptions/{subscription}/providers/Microsoft.Storage/locations/{location}/asyncoperations/{operation}',
        retryAfter: 17,
        final: 'resource',
      },
    },
    update: done(200, 'resource'),
    remove: done(200),
    hidden: true,
    location: 'short',
    tags: 'always',
    show: showAccount,
  },
  'Microsoft.Storage/storageAccounts/blobServices': {
    create: done(200, 'resource'),
    update: done(200, 'resource'),
    remove: done(200),
    singleton: 'default',
    show: ({ body }) => ({
      sku: { name: 'Standard_LRS', tier: 'Standard' },
      properties: merged(
        { cors: { corsRules: [] }, deleteRetentionPolicy: { allowPermanentDelete: false, enabled: false } },
        valuesOf(body['properties']),
      ),
    }),
  },
  'Microsoft.Storage/storageAccounts/blobServices/containers': {
    create: done(201, 'resource'),
    update: done(200, 'resource'),
    remove: done(200),
    show: (resource) => ({
      etag: `"0x${resource.etag.replaceAll('-', '').slice(0, 15).toUpperCase()}"`,
      properties: merged(
        {
          deleted: false,
          remainingRetentionDays: 0,
          defaultEncryptionScope: '$account-encryption-key',
          denyEncryptionScopeOverride: false,
          publicAccess: 'None',
          leaseStatus: 'Unlocked',
          leaseState: 'Available',
          lastModifiedTime: timeOf(resource),
          legalHold: { hasLegalHold: false, tags: [] },
          hasImmutabilityPolicy: false,
          hasLegalHold: false,
        },
        valuesOf(resource.body['properties']),
      ),
    }),
  },
  'Microsoft.KeyVault/vaults': {
    create: done(200, 'resource'),
    update: done(200, 'resource'),
    remove: done(200),
    location: 'short',
    tags: 'always',
    show: showVault,
  },
  'Microsoft.KeyVault/vaults/keys': {
    create: done(200, 'resource'),
    update: done(200, 'resource'),
    remove: done(200),
    location: 'parent',
    show(resource) {
      const { target, body, createdAt } = resource
      const uri = `https://${target.names[0]}.vault.azure.net/keys/${lastName(target)}`
      const seconds = Math.floor(createdAt / 1000)
      return {
        properties: {
          keyOps: ['encrypt', 'decrypt', 'sign', 'verify', 'wrapKey', 'unwrapKey'],
          ...valuesOf(body['properties']),
          attributes: {
            enabled: true,
            created: seconds,
            updated: seconds,
            recoveryLevel: 'CustomizedRecoverable',
            exportable: false,
            ...valuesOf(at(body, 'properties.attributes')),
          },
          keyUri: uri,
          keyUriWithVersion: `${uri}/${fact(resource.facts, 'version', () => randomUUID().replaceAll('-', ''))}`,
        },
      }
    },
  },
}
