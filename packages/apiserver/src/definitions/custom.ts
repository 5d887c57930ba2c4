import type { DefinitionVersion } from '@crosstie/kube/schema'
import { ageColumn, nameColumn } from './columns.js'
import { webhookConversion } from './convert.js'
import type { CustomResourceDefinition } from './crd.js'
import { customConventions } from './custom-conventions.js'
import type { Column, Definition, Strategy, Subresources, Version } from './definition.js'
import { scaleErrors } from './scale.js'
import { byPriority, deprecationWarning } from './versions.js'

const TERMINATING = 'create not allowed while custom resource definition is terminating'

/** Returns the definition of the kind that a CRD defines, with the accepted names. */
export function definitionOf(crd: CustomResourceDefinition): Definition {
  const { group, scope, versions } = crd.spec
  const all = versions.map((version) => versionOf(crd, version))
  const served = versions.filter((version) => version.served).map(({ name }) => all.find((v) => v.name === name)!)
  const storage = versions.find((version) => version.storage)!.name
  return {
    group,
    names: namesOf(crd),
    namespaced: scope === 'Namespaced',
    versions: served.sort((a, b) => byPriority(a.name, b.name)),
    storage,
    storageVersion: all.find(({ name }) => name === storage),
    verbs: ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'],
    strategy: strategyOf(all),
    convert: crd.spec.conversion?.strategy === 'Webhook' ? webhookConversion(crd) : undefined,
    identity: `${crd.metadata.uid}/${crd.metadata.generation ?? 1}`,
    crdUid: crd.metadata.uid,
    ...(crd.metadata.deletionTimestamp === undefined ? {} : { createRefusal: TERMINATING }),
  }
}

function namesOf(crd: CustomResourceDefinition): Definition['names'] {
  const names = crd.status?.acceptedNames?.plural ? crd.status.acceptedNames : crd.spec.names
  const { plural, kind, singular = kind.toLowerCase(), listKind = `${kind}List` } = names
  return { plural, singular, kind, listKind, shortNames: names.shortNames ?? [], categories: names.categories ?? [] }
}

function versionOf(crd: CustomResourceDefinition, version: DefinitionVersion): Version {
  const { name, schema, additionalPrinterColumns, selectableFields, deprecated } = version
  return {
    name,
    schema: schema?.openAPIV3Schema,
    subresources: subresourcesOf(version),
    columns: [
      nameColumn,
      ...(additionalPrinterColumns?.length ? (additionalPrinterColumns as readonly Column[]) : [ageColumn]),
    ],
    selectableFields: (selectableFields ?? []).map(({ jsonPath }) => jsonPath!),
    ...(deprecated ? { deprecated, deprecationWarning: deprecationWarning(crd.spec, version) } : {}),
  }
}

function subresourcesOf({ subresources }: DefinitionVersion): Subresources {
  return {
    ...(subresources?.status ? { status: true } : {}),
    ...(subresources?.scale ? { scale: subresources.scale as Subresources['scale'] } : {}),
  }
}

function strategyOf(versions: readonly Version[]): Strategy {
  return {
    ...customConventions,
    generation: 'onChange',
    unconditionalUpdate: false,
    createOnUpdate: false,
    nameRule: 'dnsSubdomain',
    validate(object, _old, { type, subresource }) {
      const scale = versions.find(({ name }) => name === type.version)?.subresources.scale
      return scale ? scaleErrors(object, scale, subresource === 'status') : []
    },
  }
}
