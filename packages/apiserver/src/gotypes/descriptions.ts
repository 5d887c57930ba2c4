import { moreDescriptions } from './descriptions-more.js'
import { descriptions } from './descriptions-text.js'

/** Returns the description of a model or of one of its fields. */
export function describe(model: string, field?: string): string | undefined {
  table ??= read()
  const about = table.get(shortName(model))
  if (field === undefined) return about?.text
  return about?.fields.get(field) ?? common[field]
}

interface About {
  readonly text: string
  readonly fields: Map<string, string>
}

let table: Map<string, About> | undefined

/** Fields that have the same meaning in all models. */
const common: Readonly<Record<string, string>> = {
  apiVersion: 'The group and version of this form of the object, such as `v1` or `apps/v1`.',
  kind: 'The kind of the object, such as `Secret`.',
  metadata: 'Name, labels, owners and the like: what every object has.',
  spec: 'What is wanted.',
  status: 'The observed state, written by the controller of the object.',
  name: 'The name.',
  namespace: 'The namespace.',
  uid: 'The uid: tells objects apart that have had the same name.',
  type: 'Which thing this is about.',
  reason: 'Why, in one word for machines.',
  message: 'Why, in words for people.',
  lastTransitionTime: 'When this last changed.',
}

const prefixes = /^io\.k8s\.(api|apiextensions-apiserver\.pkg\.apis|apimachinery\.pkg\.apis)\./

function shortName(model: string): string {
  return model.replace(prefixes, '')
}

function read(): Map<string, About> {
  const found = new Map<string, About>()
  let fields = new Map<string, string>()
  for (const line of `${descriptions}${moreDescriptions}`.split('\n')) {
    const colon = line.indexOf(': ')
    if (colon < 0) continue
    const [names, text] = [line.slice(0, colon), line.slice(colon + 2)]
    if (names.startsWith('  ')) fields.set(names.trim(), text)
    else {
      fields = new Map()
      for (const name of names.split(' ')) found.set(name, { text, fields })
    }
  }
  return found
}
