import { isIP } from 'node:net'
import { issueServing, newKey, parseCertificate, selfSign } from '@crosstie/apiserver/certificate'
import {
  attempt,
  type Client,
  groupResource,
  ignoring,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeObject,
  type ResourceType,
} from '@crosstie/kube'
import {
  type ConversionEndpoint,
  type ConversionService,
  type ManagedKind,
  serveConversions,
} from '@crosstie/resources'
import { UsageError } from '../options/options.js'
import type { Address } from './address.js'
import { DEFINITIONS } from './installation.js'
import { isTakenError } from './listen.js'

/** The Service of the conversion webhook in a cluster. */
export const CONVERSION_SERVICE = 'crosstie-conversions'

/** The location of the conversion endpoint. */
export interface ConversionPlace {
  readonly client: Client
  /** The namespace of the Secret with the certificate, and of the Service, if any. */
  readonly namespace: string
  readonly address: Address
  /** The Service. Absent: the API server uses the address. */
  readonly service?: ConversionService
}

/** A running conversion endpoint. */
export interface Conversions extends AsyncDisposable {
  readonly endpoint: ConversionEndpoint
}

/** Returns the kinds whose versions differ in their fields, so that they need conversion. */
export const convertedKinds = (kinds: readonly ManagedKind[]): readonly ManagedKind[] =>
  kinds.filter(({ convert }) => convert)

/**
 * Serves conversions of kinds with several versions. Returns undefined if no kind needs it. Every process may serve:
 * conversions are stateless and share a certificate.
 */
export async function startConversions(
  kinds: readonly ManagedKind[],
  { client, namespace, address, service }: ConversionPlace,
  signal: AbortSignal,
): Promise<Conversions | undefined> {
  const converted = convertedKinds(kinds)
  if (converted.length === 0) return undefined
  const { host } = address
  if (!service && ['0.0.0.0', '::'].includes(host)) {
    throw new UsageError(
      `--conversions ${host}: the API server must reach it, so name an address, or --conversion-service`,
    )
  }
  const hosts = service ? [`${service.name}.${service.namespace}.svc`] : [host]
  const keys = await attempt('get a certificate for conversions', () => certificate(client, namespace, hosts, signal))
  const serve = (port: number) => serveConversions({ kinds: converted, host, port, ...keys })
  const port = address.port || (await portBefore(client, converted[0]!, signal))
  const server = await serve(port).catch((error) => {
    if (address.port !== 0 || port === 0 || !isTakenError(error)) throw error
    return serve(0)
  })
  const { ca } = keys
  return {
    endpoint: service ? { service, ca } : { ...server.endpoint },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

/** Returns the port in the existing definition, so that a restart need not change it; 0 without a definition. */
async function portBefore(client: Client, { type }: ManagedKind, signal: AbortSignal): Promise<number> {
  const found = await client.get(DEFINITIONS, { name: groupResource(type) }, { signal }).catch(ignoring(isNotFound))
  const { conversion } = (found?.['spec'] ?? {}) as { conversion?: { webhook?: { clientConfig?: { url?: string } } } }
  const url = conversion?.webhook?.clientConfig?.url
  return url ? Number(new URL(url).port) : 0
}

interface Keys {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const SECRETS: ResourceType = { group: '', version: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }
const SECRET = 'crosstie-conversions'
const DAY = 24 * 3600 * 1000
const VALID_DAYS = 3650
const RENEW_BEFORE_DAYS = 365
/** The tolerated clock difference. */
const BACKDATE = 5 * 60 * 1000
const TRIES = 5

/** Returns the certificate in the shared Secret. Creates one if it is missing or not usable. */
async function certificate(
  client: Client,
  namespace: string,
  hosts: readonly string[],
  signal: AbortSignal,
): Promise<Keys> {
  const key = { name: SECRET, namespace }
  for (let tries = 1; ; tries++) {
    const found = await client.get(SECRETS, key, { signal }).catch(ignoring(isNotFound))
    const held = found && keysIn(found)
    if (held && willDo(held, hosts)) return held
    const made = newKeys(hosts)
    try {
      const object = { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', ...found, data: dataOf(made) }
      if (found) await client.update(SECRETS, object as KubeObject, { signal })
      else await client.create(SECRETS, { ...object, metadata: key }, { signal })
      return made
    } catch (error) {
      // Another process wrote the Secret first. Use its certificate.
      if (!(isAlreadyExists(error) || isConflict(error)) || tries === TRIES) throw error
    }
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const dataOf = ({ ca, cert, key }: Keys) => ({ 'ca.crt': base64(ca), 'tls.crt': base64(cert), 'tls.key': base64(key) })

function keysIn(secret: KubeObject): Keys {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>
  const text = (name: string) => Buffer.from(data[name] ?? '', 'base64').toString()
  return { ca: text('ca.crt'), cert: text('tls.crt'), key: text('tls.key') }
}

function willDo({ ca, cert, key }: Keys, hosts: readonly string[]): boolean {
  const parsed = parseCertificate(cert)
  if (!parsed || key === '' || !parseCertificate(ca)) return false
  const named = hosts.every((host) => (isIP(host) ? parsed.checkIP(host) : parsed.checkHost(host)))
  return named && Date.parse(parsed.validTo) - Date.now() > RENEW_BEFORE_DAYS * DAY
}

/** Creates a certificate. The key of the CA is discarded after signing it. */
function newKeys(hosts: readonly string[]): Keys {
  const validity = { from: Date.now() - BACKDATE, until: Date.now() + VALID_DAYS * DAY }
  const key = newKey()
  const ca = selfSign('crosstie-conversions', key, validity)
  const authority = { certificate: parseCertificate(ca)!, key }
  return { ca, ...issueServing(authority, { name: 'crosstie-conversions', hosts, ...validity }) }
}
