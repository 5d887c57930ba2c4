import type { JSONSchemaProps } from '@crosstie/cel/kubernetes'
import type { KubeObject } from '../object.js'

type Values = Readonly<Record<string, unknown>>

/** Options of a {@link FieldManager}. */
export interface FieldManagerOptions {
  readonly kind: string
  /**
   * The schemas of all versions of the kind by apiVersion, including versions that are not served. Entries of other
   * versions are dropped.
   */
  readonly versions: Readonly<Record<string, JSONSchemaProps | undefined>>
  /** Converts an object to a version. Absent: versions differ only in apiVersion. */
  readonly convert?: (object: KubeObject, apiVersion: string) => KubeObject | Promise<KubeObject>
  /** The empty object of the kind: Go's zero value. Custom resources are empty. */
  readonly empty?: Values
}

/** A write that is not an apply. */
export interface TrackInput {
  /** The stored object, in `version`. Absent on create. */
  readonly live?: KubeObject
  /** The object to store, in `version`. */
  readonly updated: KubeObject
  readonly manager: string
  /** The apiVersion of the request. */
  readonly version: string
  readonly subresource?: string
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Paths that this request cannot change, such as `[['status']]` for the main resource. */
  readonly resetFields?: readonly (readonly string[])[] | undefined
  readonly pause?: Pause
}

/** A server-side apply. */
export interface ApplyInput {
  /** The stored object, in `version`. Absent if the apply creates it. */
  readonly live?: KubeObject
  readonly applied: Values
  readonly manager: string
  readonly force?: boolean
  readonly version: string
  readonly subresource?: string
  readonly now: number
  readonly resetFields?: readonly (readonly string[])[] | undefined
  readonly pause?: Pause
}

/** The result of a server-side apply. */
export interface ApplyResult {
  /** The merged object before defaulting and pruning. Unchanged parts are shared with the live object. */
  readonly object: KubeObject
  readonly managedFieldsChanged: boolean
}

/** Called between passes over an object. Returns a promise when other work should run first. */
export type Pause = () => Promise<void> | undefined
