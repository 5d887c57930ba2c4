import { ExpressionEnvironment, type VariableType } from './expression.js'

const kind: VariableType = {
  name: 'kubernetes.GroupVersionKind',
  object: { group: 'string', version: 'string', kind: 'string' },
}

const resource: VariableType = {
  name: 'kubernetes.GroupVersionResource',
  object: { group: 'string', version: 'string', resource: 'string' },
}

const strings: VariableType = { list: 'string' }

const request: VariableType = {
  name: 'kubernetes.AdmissionRequest',
  object: {
    kind,
    resource,
    subResource: 'string',
    requestKind: kind,
    requestResource: resource,
    requestSubResource: 'string',
    name: 'string',
    namespace: 'string',
    operation: 'string',
    userInfo: {
      name: 'kubernetes.UserInfo',
      object: { username: 'string', uid: 'string', groups: strings, extra: { map: strings } },
    },
    dryRun: 'bool',
    options: 'dyn',
  },
}

const namespaceObject: VariableType = {
  name: 'kubernetes.Namespace',
  object: {
    metadata: {
      name: 'kubernetes.NamespaceMetadata',
      object: {
        name: 'string',
        generateName: 'string',
        namespace: 'string',
        labels: { map: 'string' },
        annotations: { map: 'string' },
        UID: 'string',
        creationTimestamp: 'timestamp',
        deletionGracePeriodSeconds: 'int',
        deletionTimestamp: 'timestamp',
        generation: 'int',
        resourceVersion: 'string',
        finalizers: strings,
      },
    },
    spec: { name: 'kubernetes.NamespaceSpec', object: { finalizers: strings } },
    status: {
      name: 'kubernetes.NamespaceStatus',
      object: {
        conditions: {
          list: {
            name: 'kubernetes.NamespaceCondition',
            object: {
              status: 'string',
              type: 'string',
              lastTransitionTime: 'timestamp',
              message: 'string',
              reason: 'string',
            },
          },
        },
        phase: 'string',
      },
    },
  },
}

/** Options of {@link admissionEnvironment}. */
export interface AdmissionEnvironmentOptions {
  /**
   * Whether the policy has parameters, so that `params` is a variable. A {@link VariableType} also states their
   * type.
   */
  readonly params?: boolean | VariableType
  /** The type of `object` and `oldObject`, if it is known. */
  readonly object?: VariableType
  /** Whether `authorizer` and `authorizer.requestResource` are variables. */
  readonly authorizer?: boolean
  readonly stored?: boolean
}

/** Returns the environment for expressions of admission policies and match conditions. */
export function admissionEnvironment({
  params = false,
  object = 'dyn',
  authorizer = false,
  stored = false,
}: AdmissionEnvironmentOptions = {}): ExpressionEnvironment {
  const variables: Record<string, VariableType> = { object, oldObject: object, namespaceObject, request }
  if (params) variables['params'] = params === true ? 'dyn' : params
  if (authorizer) {
    variables['authorizer'] = 'authorizer'
    variables['authorizer.requestResource'] = 'resourceCheck'
  }
  return ExpressionEnvironment.create({ variables, stored })
}
