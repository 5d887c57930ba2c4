import { encodeYaml } from '@crosstie/apiserver/yaml'
import type { Json, KubeObject } from '@crosstie/kube'
import {
  aggregateClassCrd,
  aggregateCrd,
  approvalPolicy,
  discoveryRequestCrd,
  externalNamePolicy,
  type ManagedKind,
  operatorRoles,
  type Provider,
  planRequestCrd,
  requestIdentityPolicy,
  requestRoles,
  reservationCrd,
} from '@crosstie/resources'
import { CONVERSION_SERVICE, convertedKinds } from '../../daemon/conversions.js'
import type { ProviderRegistry } from '../../daemon/registry.js'
import { clusterRole, commonRights, conversionRights, leaseRights, providerRights, role } from './rights.js'

/** The settings of the controllers in a cluster. Numbers may be template text. */
export interface Deployment {
  readonly namespace: string
  readonly image: string
  readonly replicas: number | string
  readonly shards: number | string
  /** The value of `--providers`. */
  readonly providers: string
}

/** Objects that belong together: one file of a chart. */
export interface Part {
  readonly name: string
  readonly objects: readonly KubeObject[]
  /** The provider that the objects are for. Absent: all. */
  readonly provider?: string
}

const NAME = 'crosstie'
const PORT = 8080
const CONVERSION_PORT = 9443
const labels = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/component': 'controllers' }
const matchLabels = labels

/** Returns the definitions that a control plane installs: common ones, and those of each provider. */
export function definitions({ providers, claims }: ProviderRegistry, namespace: string): readonly Part[] {
  const own = new Set(providers.flatMap((provider) => provider.claims ?? []))
  const common = claims.filter((kind) => !own.has(kind)).map((kind) => kind.crd())
  return [
    {
      name: 'common',
      objects: [
        aggregateCrd(),
        aggregateClassCrd(),
        reservationCrd(),
        planRequestCrd(),
        discoveryRequestCrd(),
        ...common,
      ],
    },
    ...providers.map((provider) => ({
      name: provider.name,
      provider: provider.name,
      objects: definitionsOf(provider, namespace),
    })),
  ]
}

function definitionsOf(
  { kinds, claims = [], definitions: others = [] }: Provider,
  namespace: string,
): readonly KubeObject[] {
  // The controllers write the CA of their certificate into it.
  const conversion = { service: { namespace, name: CONVERSION_SERVICE, port: CONVERSION_PORT } }
  const configs = new Set(kinds.flatMap(({ providerConfig }) => providerConfig ?? []))
  return [
    ...kinds.flatMap((kind) => [kind.crd(conversion), kind.classCrd(), ...(kind.query ? [kind.query.crd()] : [])]),
    ...[...configs].flatMap((config) => [config.crd(), config.usageCrd()]),
    ...claims.map((kind) => kind.crd()),
    ...others,
  ]
}

/** Returns the Namespace of the controllers. */
export function namespaceOf({ namespace }: Deployment): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { ...labels } } }
}

/** Returns all objects that run the controllers, except the namespace and the definitions. */
export function workload({ providers, kinds, claims }: ProviderRegistry, deployment: Deployment): readonly Part[] {
  const { namespace } = deployment
  const account = { name: NAME, namespace }
  const converted = convertedKinds(kinds)
  return [
    { name: 'serviceaccount', objects: [serviceAccount(deployment)] },
    { name: 'rbac', objects: clusterRole('crosstie-controllers', account, { rules: commonRights(claims) }, labels) },
    { name: 'rbac-leases', objects: role('crosstie-leases', account, { rules: leaseRights }, labels) },
    ...providers.map((provider) => ({
      name: `rbac-${provider.name}`,
      provider: provider.name,
      objects: [
        ...clusterRole(`crosstie-provider-${provider.name}`, account, { rules: providerRights(provider) }, labels),
        ...(provider.roles ?? []).map((object) => ({ ...object, metadata: { ...object.metadata, labels } })),
      ],
    })),
    { name: 'admission', objects: requestIdentityPolicy() },
    ...providers
      .filter(({ kinds: own }) => own.length > 0)
      .map((provider) => ({
        name: `admission-${provider.name}`,
        provider: provider.name,
        objects: [
          ...externalNamePolicy(provider.name, provider.kinds),
          ...approvalPolicy(provider.name, provider.kinds),
        ],
      })),
    { name: 'operator-roles', objects: [...operatorRoles(claims, kinds), ...requestRoles(kinds)] },
    { name: 'deployment', objects: [deploymentOf(deployment, converted.length > 0)] },
    { name: 'service', objects: [service(deployment)] },
    ...(converted.length > 0 ? [{ name: 'conversions', objects: conversionObjects(deployment, converted) }] : []),
    { name: 'poddisruptionbudget', objects: [disruptionBudget(deployment)] },
  ]
}

const metadataIn = ({ namespace }: Deployment) => ({ name: NAME, namespace, labels: { ...labels } })

function serviceAccount(deployment: Deployment): KubeObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadataIn(deployment) }
}

function deploymentOf(deployment: Deployment, converts: boolean): KubeObject {
  const { replicas } = deployment
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataIn(deployment),
    spec: {
      replicas,
      selector: { matchLabels },
      template: { metadata: { labels: { ...labels } }, spec: podSpec(deployment, converts) },
    },
  }
}

function podSpec(deployment: Deployment, converts: boolean): object {
  return {
    serviceAccountName: NAME,
    terminationGracePeriodSeconds: 30,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels } } },
        ],
      },
    },
    containers: [container(deployment, converts)],
    // Processes of Terraform providers have their folders here.
    volumes: [{ name: 'tmp', emptyDir: {} }],
  }
}

function container({ image, shards, providers }: Deployment, converts: boolean): object {
  const probe = (path: string) => ({ httpGet: { path, port: 'metrics' }, timeoutSeconds: 5 })
  return {
    name: 'controllers',
    image,
    args: [
      'controllers',
      // The manifests contain the definitions, so that the controllers need no permission to change them.
      '--skip-definitions',
      '--namespace=$(POD_NAMESPACE)',
      `--providers=${providers}`,
      `--shards=${shards}`,
      `--metrics=0.0.0.0:${PORT}`,
      ...(converts ? conversionArgs : []),
      '--log-format=json',
    ],
    env: [
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      { name: 'CROSSTIE_TERRAFORM_CACHE', value: '/tmp/plugins' },
    ],
    ports: [
      { name: 'metrics', containerPort: PORT },
      ...(converts ? [{ name: 'conversions', containerPort: CONVERSION_PORT }] : []),
    ],
    livenessProbe: { ...probe('/livez'), periodSeconds: 20, failureThreshold: 6 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 10 },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
    resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  }
}

function service(deployment: Deployment): KubeObject {
  const annotations = { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(PORT) }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadataIn(deployment), name: `${NAME}-metrics`, annotations },
    // Each process has its own metrics, so each has its own address.
    spec: { clusterIP: 'None', selector: matchLabels, ports: [{ name: 'metrics', port: PORT, targetPort: 'metrics' }] },
  }
}

const conversionArgs = [
  `--conversions=0.0.0.0:${CONVERSION_PORT}`,
  `--conversion-service=${CONVERSION_SERVICE}:${CONVERSION_PORT}`,
]

/** Returns the Service of the conversion webhook, and the permission to write its CA into definitions. */
function conversionObjects(deployment: Deployment, kinds: readonly ManagedKind[]): readonly KubeObject[] {
  const ports = [{ name: 'conversions', port: CONVERSION_PORT, targetPort: 'conversions' }]
  const account = { name: NAME, namespace: deployment.namespace }
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadataIn(deployment), name: CONVERSION_SERVICE },
      // Processes that wait for leadership or for definitions convert too.
      spec: { selector: matchLabels, ports, publishNotReadyAddresses: true },
    },
    ...clusterRole(CONVERSION_SERVICE, account, { rules: conversionRights(kinds) }, labels),
  ]
}

function disruptionBudget(deployment: Deployment): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadataIn(deployment),
    // At most one at a time, which also allows draining a node with a single replica.
    spec: { maxUnavailable: 1, selector: { matchLabels } },
  }
}

/** Formats objects as YAML documents of one file. */
export function yamlOf(objects: readonly KubeObject[]): string {
  return objects.map((object) => encodeYaml(object as unknown as Json)).join('---\n')
}
