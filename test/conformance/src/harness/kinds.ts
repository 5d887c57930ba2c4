import type { Loose } from './http.js'

/** Returns the path of the ConfigMaps in a namespace. */
export const configMapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
/** Returns the path of the Secrets in a namespace. */
export const secretsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`

/** Returns a ConfigMap. `metadata` adds fields besides the name. */
export const configMap = (name: string, data?: Record<string, string>, metadata: object = {}): Loose => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})

/** Replaces numbers in messages by N, because revisions differ between runs. */
export const withoutNumbers = (body: Loose): Loose => ({ ...body, message: body.message?.replace(/\d+/g, 'N') })
