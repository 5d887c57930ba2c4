import { X509Certificate } from 'node:crypto'
import { messageOf } from '@crosstie/kube'

const block = /-----BEGIN ([^-\r\n]+)-----\r?\n([\s\S]*?)-----END \1-----/g

/** Returns the reason why a CA bundle (PEM in base64) is not valid. Undefined when it is. */
export function caBundleError(caBundle: string): string | undefined {
  const problem = problemOf(Buffer.from(caBundle, 'base64').toString('latin1'))
  return problem && `unable to load root certificates: ${problem}`
}

function problemOf(pem: string): string | undefined {
  const blocks = [...pem.matchAll(block)]
  if (blocks.length === 0) return 'unable to parse bytes as PEM block'
  let failure: string | undefined
  for (const [text, type, content] of blocks) {
    // A block with headers is not a plain certificate.
    if (type !== 'CERTIFICATE' || /^[^\r\n]+:/.test(content!)) continue
    try {
      new X509Certificate(text)
      return undefined
    } catch (error) {
      failure ??= `failed to parse certificate: ${messageOf(error)}`
    }
  }
  return failure ?? 'no valid certificate authority data seen'
}
