import type { KubeObject, ResourceType } from '@crosstie/kube'
import { type Controller, defineProvider, type ProviderRight, type RuntimeHost } from '@crosstie/resources/provider'
import { terraformProviderCrd, terraformProviderType } from './definition.js'

type Engine = ReturnType<typeof import('./engine.js')['startEngine']>

/** Terraform providers, named by TerraformProvider objects. */
export const provider = defineProvider({
  name: 'terraform',
  summary: 'Resource types of any Terraform provider, added at run time.',
  kinds: [],
  definitions: [terraformProviderCrd],
  rights: rights(),
  run(host: RuntimeHost) {
    // Without a TerraformProvider, a process need not load the code that speaks to them.
    let engine: Promise<Engine> | undefined
    const start = () => (engine ??= import('./engine.js').then(({ startEngine }) => startEngine(host)))
    return {
      controllers: [controllerOf(start, () => engine)],
      [Symbol.asyncDispose]: async () => await (await engine)?.[Symbol.asyncDispose](),
    }
  },
  runtimeKinds: async (host) => await (await import('./engine.js')).runtimeKinds(host),
})

function controllerOf(start: () => Promise<Engine>, started: () => Promise<Engine> | undefined): Controller {
  return {
    name: `${terraformProviderType.resource}.${terraformProviderType.group}`,
    type: terraformProviderType,
    // Each process needs the kinds, since it reconciles a share of their objects.
    everyProcess: true,
    reconcile: async (key, signal) => await (await start()).reconciler.reconcile(key, signal),
    // Writes of the status, such as the reconciler's own, do not ask for anything new.
    wakes: (before, after) => !before || !isSameRequest(before, after),
    gone: ({ metadata }) =>
      void started()
        ?.then(({ reconciler }) => reconciler.stop(metadata.name ?? ''))
        .catch(() => {}),
  }
}

const isSameRequest = (before: KubeObject, after: KubeObject): boolean =>
  before.metadata.generation === after.metadata.generation &&
  before.metadata.deletionTimestamp === after.metadata.deletionTimestamp

function rights(): readonly ProviderRight[] {
  const { group, resource }: ResourceType = terraformProviderType
  return [
    { apiGroups: [group], resources: [resource], verbs: ['get', 'list', 'watch', 'update', 'patch'] },
    { apiGroups: [group], resources: [`${resource}/status`, `${resource}/finalizers`], verbs: ['update', 'patch'] },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      verbs: ['get', 'create', 'patch', 'delete'],
    },
  ]
}
