import {
  compileJsonPath,
  FieldPathError,
  findFieldValue,
  isObject,
  type JsonObject,
  JsonPathError,
  type KubeObject,
  stringify,
} from '@crosstie/kube'
import { decoded } from './manifest.js'

/** Reports whether an object is a Secret. */
export const isSecret = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === 'v1' && kind === 'Secret'

/**
 * Returns the value at a path: a field path such as `data.token`, or a JSONPath such as
 * `{.spec.ports[?(@.name=="http")].nodePort}`. Values of Secrets are decoded. Returns undefined if there is no
 * value.
 */
export function valueAt(object: KubeObject, path: string): unknown {
  const readable = isSecret(object) ? withDecodedData(object) : object
  try {
    if (!/^[{.$]/.test(path)) return findFieldValue(readable, path)
    const [found] = compileJsonPath(path.replace(/^\{(.*)\}$/, '$1').replace(/^\$/, ''))(readable)
    return found
  } catch (error) {
    if (error instanceof FieldPathError || error instanceof JsonPathError) {
      throw new Error(`"${path}" is no path: ${error.message}`)
    }
    throw error
  }
}

/** Returns the text at a path, or undefined if there is none. */
export function textAt(object: KubeObject, path: string): string | undefined {
  const value = valueAt(object, path)
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : stringify(value)
}

function withDecodedData(secret: KubeObject): KubeObject {
  const data = secret['data']
  if (!isObject(data)) return secret
  const entries = Object.entries(data).map(([key, value]) => [key, decoded(String(value))])
  return { ...secret, data: Object.fromEntries(entries) as JsonObject }
}
