import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import type { ObjectMeta } from '../../object.js'

/** apiextensions.k8s.io/v1 CustomResourceDefinition. */
export interface CustomResourceDefinition {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly spec: DefinitionSpec
  readonly status?: DefinitionStatus
  readonly [field: string]: unknown
}

/** The spec of a definition. */
export interface DefinitionSpec {
  readonly group: string
  readonly names: DefinitionNames
  readonly scope: string
  readonly versions: readonly DefinitionVersion[]
  readonly conversion?: Conversion
  readonly preserveUnknownFields?: boolean
}

/** The names of a definition. */
export interface DefinitionNames {
  readonly plural: string
  readonly singular?: string
  readonly kind: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** A version of a definition. */
export interface DefinitionVersion {
  readonly name: string
  readonly served?: boolean
  readonly storage?: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: JSONSchemaProps } | undefined
  readonly subresources?: DefinitionSubresources | undefined
  readonly additionalPrinterColumns?: readonly PrinterColumn[] | undefined
  readonly selectableFields?: readonly { readonly jsonPath?: string }[] | undefined
}

/** The subresources of a version. */
export interface DefinitionSubresources {
  readonly status?: Readonly<Record<string, never>>
  readonly scale?: {
    readonly specReplicasPath?: string
    readonly statusReplicasPath?: string
    readonly labelSelectorPath?: string
  }
}

/** A printer column of a version. */
export interface PrinterColumn {
  readonly name?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  readonly jsonPath?: string
}

/** The conversion of a definition. */
export interface Conversion {
  readonly strategy?: string
  readonly webhook?: {
    readonly clientConfig?: WebhookClientConfig
    readonly conversionReviewVersions?: readonly string[]
  }
}

/** The address of a webhook. */
export interface WebhookClientConfig {
  readonly url?: string
  readonly service?: {
    readonly namespace?: string
    readonly name?: string
    readonly path?: string
    readonly port?: number
  }
  /** A PEM bundle in base64. */
  readonly caBundle?: string
}

/** The status of a definition. */
export interface DefinitionStatus {
  readonly conditions?: readonly DefinitionCondition[] | null
  readonly acceptedNames?: DefinitionNames
  readonly storedVersions?: readonly string[] | null
}

/** A condition of a definition. */
export interface DefinitionCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** Reports whether the definition has the condition with status True. */
export function hasCondition(crd: CustomResourceDefinition, type: string): boolean {
  return crd.status?.conditions?.find((condition) => condition.type === type)?.status === 'True'
}
