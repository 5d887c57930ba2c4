import { type Clock, isObject, type KubeObject, systemClock } from '@crosstie/kube'
import { builtinDefinitions, type Helpers } from '../builtin/index.js'
import type { CustomResourceDefinition } from '../definitions/crd.js'
import { definitionOf } from '../definitions/custom.js'
import type { Admission, Engine } from '../serving/engine.js'
import { KindRegistry } from '../serving/registry.js'
import type { Body, WriteRequest } from '../serving/request.js'
import { MemoryStore } from '../store/memory.js'
import type { Store } from '../store/store.js'
import { Hub } from '../watch/hub.js'
import { create } from './create.js'
import { apiServer, systemRequest } from './system.js'

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com', uid: 'widgets', generation: 1 },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', default: 1, minimum: 0 },
                  color: { type: 'string' },
                },
                'x-kubernetes-validations': [{ rule: 'self.size <= 10', message: 'at most 10' }],
              },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
} as unknown as CustomResourceDefinition

/** An engine for tests. */
export interface TestEngine extends Engine {
  readonly store: Store
  /** A request of the server itself for a ConfigMap or a Widget in the namespace `default`. */
  request(resource: 'configmaps' | 'widgets', name?: string, options?: Partial<WriteRequest>): WriteRequest
}

/** An engine with a store in memory, the built-in kinds, the custom kind Widget and the namespace `default`. */
export async function testEngine(options: { admission?: Partial<Admission>; clock?: Clock } = {}): Promise<TestEngine> {
  const { clock = systemClock } = options
  const store = new MemoryStore({ clock })
  const helpers = { answers: {}, validateCrd: () => [], checkExpression: () => undefined } as unknown as Helpers
  const registry = new KindRegistry(builtinDefinitions(helpers))
  registry.put(definitionOf(widgets))
  const admission: Admission = {
    interested: () => options.admission !== undefined,
    mutate: async ({ object }) => object,
    validate: async () => {},
    ...options.admission,
  }
  const engine: Engine = {
    store,
    registry,
    hub: new Hub(store),
    clock,
    admission,
    authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
  }
  const served = (group: string, resource: string) => {
    const found = registry.resolve(group, 'v1', resource)
    if (!found) throw new Error(`${resource} are not served`)
    return found
  }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
  const quiet: Engine = { ...engine, admission: { ...admission, interested: () => false } }
  await create(quiet, systemRequest(apiServer, served('', 'namespaces')), bodyOf(namespace))
  return {
    ...engine,
    request: (resource, name = '', overrides = {}) => ({
      ...systemRequest(apiServer, served(resource === 'widgets' ? 'example.com' : '', resource), {
        name,
        namespace: 'default',
      }),
      ...overrides,
    }),
  }
}

/** Returns the body of a request. */
export function bodyOf(value: unknown): Body {
  return { value, strictErrors: [] }
}

/** Returns a ConfigMap. */
export function configMap(name: string, data: Record<string, string> = {}, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data }
}

/** Returns a Widget. */
export function widget(name: string, spec: object = {}, more: object = {}): KubeObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec, ...more }
}

/** Returns a field of an object that is itself an object, such as `spec`. */
export function fieldsOf(object: KubeObject, name: string): Record<string, unknown> {
  const value = object[name]
  return isObject(value) ? value : {}
}
