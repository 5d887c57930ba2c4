import { parseApiVersion } from '@crosstie/kube'
import { isGoStruct } from './go-type.js'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions'

/** Returns the OpenAPI model of a built-in kind. Undefined for unknown kinds. */
export function modelOf(apiVersion: string, kind: string): string | undefined {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
  // Every group has these models under its own name, with the same content.
  const model = kind === 'DeleteOptions' ? `${META}.${kind}` : `${packageOf(group)}.${version}.${kind}`
  return isGoStruct(model) ? model : undefined
}

function packageOf(group: string): string {
  if (group === 'apiextensions.k8s.io') return EXTENSIONS
  return `io.k8s.api.${group === '' ? 'core' : group.split('.', 1)[0]}`
}
