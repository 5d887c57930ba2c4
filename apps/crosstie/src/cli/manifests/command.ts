import { isDNS1123Label } from '@crosstie/kube'
import { providerOptions, providersOf } from '../../daemon/providers.js'
import { loadRegistry } from '../../daemon/registry.js'
import { type Command, EXIT_OK, type Input, UsageError } from '../command.js'
import { ownVersion } from '../version/command.js'
import { type Deployment, definitions, namespaceOf, workload, yamlOf } from './objects.js'

export const manifests: Command = {
  name: 'manifests',
  usage: 'crosstie manifests [--providers NAMES] [--namespace NAME] [--image IMAGE] [--replicas N] [--shards N]',
  summary: 'Print all that a cluster needs to run the controllers, for kubectl apply.',
  options: {
    ...providerOptions,
    namespace: { type: 'string', value: 'NAME', help: 'Where the controllers run', default: 'crosstie-system' },
    image: {
      type: 'string',
      value: 'IMAGE',
      help: 'What they run, built by deploy/Dockerfile (default crosstie:VERSION)',
    },
    replicas: { type: 'string', value: 'N', help: 'How many processes; one leads, the others wait', default: '2' },
    shards: { type: 'string', value: 'N', help: 'Above 1: split the objects into N parts, and all work', default: '1' },
    only: { type: 'string', value: 'PART', help: 'crds: just the kinds; workload: all but the kinds' },
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
  throw new UsageError(`--namespace '${namespace}' is no name of a namespace: ${problem}`)
}

function count(values: Input['values'], name: string): number {
  const number = Number(values[name])
  if (Number.isInteger(number) && number >= 1 && number <= 1_000) return number
  throw new UsageError(`--${name} takes a whole number from 1 to 1000, not '${values[name]}'`)
}
