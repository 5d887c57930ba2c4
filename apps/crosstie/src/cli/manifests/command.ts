import { isDNS1123Label } from '@crosstie/kube'
import { providerOptions, providersOf } from '../../daemon/providers.js'
import { loadRegistry } from '../../daemon/registry.js'
import { type Command, EXIT_OK, type Input, UsageError } from '../command.js'
import { ownVersion } from '../version/command.js'
import { type Deployment, definitions, namespaceOf, workload, yamlOf } from './objects.js'

/** The command `crosstie manifests`. */
export const manifests: Command = {
  name: 'manifests',
  usage: 'crosstie manifests [--providers NAMES] [--namespace NAME] [--image IMAGE] [--replicas N] [--shards N]',
  summary: 'Print the manifests that run the controllers in a cluster, for kubectl apply.',
  options: {
    ...providerOptions,
    namespace: { type: 'string', value: 'NAME', help: 'The namespace of the controllers', default: 'crosstie-system' },
    image: {
      type: 'string',
      value: 'IMAGE',
      help: 'The image, built by deploy/Dockerfile (default crosstie:VERSION)',
    },
    replicas: { type: 'string', value: 'N', help: 'The number of processes; one leads, the others wait', default: '2' },
    shards: {
      type: 'string',
      value: 'N',
      help: 'Above 1: divide the objects into N shards, so that all processes work',
      default: '1',
    },
    only: { type: 'string', value: 'PART', help: 'crds: only the definitions; workload: everything else' },
  },
  words: 0,
  async run({ values, out }) {
    const names = providersOf(values)
    const only = values['only']
    if (only !== undefined && only !== 'crds' && only !== 'workload') {
      throw new UsageError(`--only is crds or workload, not '${only}'`)
    }
    const deployment: Deployment = {
      namespace: namespaceFrom(values),
      image: typeof values['image'] === 'string' ? values['image'] : `crosstie:${await ownVersion()}`,
      replicas: count(values, 'replicas'),
      shards: count(values, 'shards'),
      providers: names.join(','),
    }
    const registry = await loadRegistry(names)
    const kinds = definitions(registry, deployment.namespace).flatMap(({ objects }) => objects)
    const rest = [namespaceOf(deployment), ...workload(registry, deployment).flatMap(({ objects }) => objects)]
    const printed = only === 'crds' ? kinds : only === 'workload' ? rest : [...kinds, ...rest]
    out(yamlOf(printed).trimEnd())
    return EXIT_OK
  },
}

function namespaceFrom(values: Input['values']): string {
  const namespace = String(values['namespace'])
  const [problem] = isDNS1123Label(namespace)
  if (!problem) return namespace
  throw new UsageError(`--namespace '${namespace}' is not a valid namespace name: ${problem}`)
}

function count(values: Input['values'], name: string): number {
  const number = Number(values[name])
  if (Number.isInteger(number) && number >= 1 && number <= 1_000) return number
  throw new UsageError(`--${name} takes a whole number from 1 to 1000, not '${values[name]}'`)
}
