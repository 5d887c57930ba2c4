import { findInChain, isObject, type JsonObject, messageOf, StatusError } from '@crosstie/kube'
import { HIDDEN } from './manifest.js'

/** The next step for an error of the cluster, by reason. */
const nextSteps: Readonly<Record<string, string>> = {
  Unauthorized: 'the cluster does not accept the credentials: renew those that the ProviderConfig names',
  Forbidden:
    'an administrator grants the identity that this message names what is missing, see docs/guides/kubernetes-objects.md',
  ServiceUnavailable: 'is the server of the kubeconfig right, and can it be reached from here?',
  RequestEntityTooLarge: 'make the manifest smaller',
  Invalid: 'correct spec.forProvider.manifest',
}

/** Shorter texts are not hidden, since they occur by chance. */
const SECRET_LENGTH = 4

/**
 * Runs a step. Errors name the next step and contain no secret. Conflicts are converted, since the reconciler would
 * take them for a conflict of the Object itself.
 */
export async function told<T>(what: string, secrets: readonly string[], step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    const status = findInChain(error, StatusError)
    const advice = status && adviceFor(status)
    const message = `cannot ${what}: ${messageOf(error)}${advice ? ` (${advice})` : ''}`
    throw new Error(withoutSecrets(message, secrets))
  }
}

function adviceFor({ reason, message }: StatusError): string | undefined {
  if (reason === 'NotFound' && /^namespaces /.test(message)) {
    return 'create the namespace first, for instance by an Object that this one dependsOn'
  }
  return nextSteps[reason]
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = [...new Set(secrets)].filter(({ length }) => length >= SECRET_LENGTH)
  return forms.sort((a, b) => b.length - a.length).reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
}

/** Hides every text of a document that contains a secret. */
export function withoutTexts(document: JsonObject, secrets: readonly string[]): JsonObject {
  const forms = secrets.filter(({ length }) => length >= SECRET_LENGTH)
  if (forms.length === 0) return document
  const hide = (value: unknown): unknown => {
    if (typeof value === 'string') return forms.some((secret) => value.includes(secret)) ? HIDDEN : value
    if (Array.isArray(value)) return value.map(hide)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner)]))
  }
  return hide(document) as JsonObject
}
