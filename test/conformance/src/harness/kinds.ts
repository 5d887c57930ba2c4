import type { Loose } from './http.js'

export const configMapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
export const secretsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`

/** A ConfigMap; `metadata` is more of it than the name. */
export const configMap = (name: string, data?: Record<string, string>, metadata: object = {}): Loose => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})

/** Messages that carry revisions differ from run to run: their numbers become N. */
export const withoutNumbers = (body: Loose): Loose => ({ ...body, message: body.message?.replace(/\d+/g, 'N') })
