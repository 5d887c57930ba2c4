// Derives the request shapes of Azure Resource Manager from the official JavaScript SDKs, as compact text.
//   node scripts/azure-shapes.mjs FOLDER   FOLDER holds the unpacked packages: npm pack @azure/arm-network, and so on
// Only names, types and flags are taken: `!` is required, `-` is read-only. A resource inside another one is its `id`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { globSync } from './glob.mjs'

const FILE = 'providers/azure/src/emulator/shapes.ts'
const folder = resolve(process.argv[2] ?? '.')
const DEPTH_MAX = 9

/** The API version and the model of each resource type, by package. */
const sources = {
  'arm-resources': ['2025-04-01', { 'Microsoft.Resources/resourceGroups': 'ResourceGroup' }],
  'arm-network': [
    '2025-05-01',
    { 'Microsoft.Network/virtualNetworks': 'VirtualNetwork', 'Microsoft.Network/virtualNetworks/subnets': 'Subnet' },
  ],
  'arm-privatedns': [
    '2020-06-01',
    {
      'Microsoft.Network/privateDnsZones': 'PrivateZone',
      'Microsoft.Network/privateDnsZones/virtualNetworkLinks': 'VirtualNetworkLink',
    },
  ],
  'arm-mysql-flexible': [
    '2023-12-30',
    {
      'Microsoft.DBforMySQL/flexibleServers': 'Server',
      'Microsoft.DBforMySQL/flexibleServers/databases': 'Database',
      'Microsoft.DBforMySQL/flexibleServers/firewallRules': 'FirewallRule',
    },
  ],
  'arm-sql': [
    '2022-05-01-preview',
    {
      'Microsoft.Sql/servers': 'Server',
      'Microsoft.Sql/servers/databases': 'Database',
      'Microsoft.Sql/servers/firewallRules': 'FirewallRule',
      'Microsoft.Sql/servers/virtualNetworkRules': 'VirtualNetworkRule',
    },
  ],
  'arm-rediscache': ['2024-11-01', { 'Microsoft.Cache/redis': 'RedisCreateParameters' }],
}

const texts = []
for (const [name, [version, types]] of Object.entries(sources)) {
  const [file] = globSync([join(folder, name)], /models\/mappers\.js$/)
  if (!file) throw new Error(`${name} has no mappers below ${folder}`)
  const mappers = await import(pathToFileURL(file).href)
  for (const [type, model] of Object.entries(types)) {
    texts.push(`${type} ${version}`, ...lines(treeOf(mappers, model, [model])))
  }
}
const head = readFileSync(FILE, 'utf8').split('export const shapesText')[0]
writeFileSync(FILE, `${head}export const shapesText = \`\n${texts.join('\n')}\n\`\n`)

/** Returns the fields of a model. Flattened names such as `properties.state` become nested fields. */
function treeOf(mappers, model, path) {
  const root = { children: new Map() }
  const { modelProperties = {}, additionalProperties } = mappers[model].type
  for (const property of Object.values(modelProperties)) {
    const names = property.serializedName
      .replaceAll('\\.', '\0')
      .split('.')
      .map((name) => name.replaceAll('\0', '.'))
    let at = root
    for (const name of names.slice(0, -1)) {
      if (!at.children.has(name)) at.children.set(name, { type: 'object', flags: '', children: new Map() })
      at = at.children.get(name)
    }
    at.children.set(names.at(-1), nodeOf(mappers, property, path))
  }
  if (additionalProperties) root.children.set('*', { type: 'any', flags: '' })
  return root.children
}

function nodeOf(mappers, property, path) {
  const { type } = property
  const flags = property.readOnly ? '-' : property.required ? '!' : ''
  if (property.readOnly && type.name === 'Sequence') return { type: 'any', flags, list: true }
  if (type.name === 'Sequence') return { ...nodeOf(mappers, type.element, path), flags, list: true }
  if (type.name === 'Dictionary') return { ...nodeOf(mappers, type.value, path), flags, map: true }
  if (type.name === 'Enum') return { type: `enum(${type.allowedValues.join('|')})`, flags }
  if (type.name !== 'Composite') return { type: simple(type.name), flags }
  const model = type.className
  if (!mappers[model] || path.includes(model) || path.length > DEPTH_MAX || property.readOnly)
    return { type: 'any', flags }
  if (isResource(mappers[model], path)) return { type: 'resource', flags }
  return { type: 'object', flags, children: treeOf(mappers, model, [...path, model]) }
}

/**
 * Reports whether an embedded resource exists on its own. Delegations do not, and a virtual network may contain its
 * subnets.
 */
function isResource({ type: { modelProperties = {}, className } }, path) {
  const part = className === 'Delegation' || (className === 'Subnet' && path.length === 1)
  return Boolean(modelProperties.id && modelProperties.etag) && !part
}

function simple(name) {
  if (name === 'Number') return 'number'
  if (name === 'Boolean') return 'boolean'
  return name === 'any' ? 'any' : 'string'
}

function lines(children, depth = 1) {
  return [...children].flatMap(([name, node]) => [
    `${' '.repeat(depth)}${name} ${node.list ? '[]' : ''}${node.map ? '{}' : ''}${node.type}${node.flags}`,
    ...(node.children ? lines(node.children, depth + 1) : []),
  ])
}
