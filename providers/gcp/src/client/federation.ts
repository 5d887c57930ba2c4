import { readFile } from 'node:fs/promises'
import { isObject, messageOf } from '@crosstie/kube'
import { ConfigError } from '../config.js'
import { requestToken, send, type Token, textOf } from './token.js'

const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

type File = Readonly<Record<string, unknown>>

/** Workload identity federation: exchanges the token of another identity provider for one of Google. */
export async function exchangeSubjectToken(file: File, scope: string, signal: AbortSignal): Promise<Token> {
  const source = file['credential_source']
  if (!isObject(source)) throw incomplete('credential_source')
  const audience = textOf(file, 'audience')
  const subjectType = textOf(file, 'subject_token_type')
  if (!audience || !subjectType) throw incomplete(audience ? 'subject_token_type' : 'audience')
  const form = {
    grant_type: EXCHANGE_GRANT,
    audience,
    scope,
    requested_token_type: ACCESS_TOKEN,
    subject_token_type: subjectType,
    subject_token: await subjectToken(source, signal),
  }
  const url = textOf(file, 'token_url') ?? 'https://sts.googleapis.com/v1/token'
  return await requestToken(url, form, `the workload of ${audience}`, signal)
}

function incomplete(field: string): ConfigError {
  return new ConfigError(`the external_account credentials have no ${field}. Write the complete file of Google`)
}

/** The token itself, from a file such as a projected service account token, or from a URL. */
async function subjectToken(source: File, signal: AbortSignal): Promise<string> {
  const path = textOf(source, 'file')
  const url = textOf(source, 'url')
  if (path !== undefined) {
    const text = await readFile(path, 'utf8').catch((error) => {
      throw new ConfigError(
        `cannot read the token of the workload: ${messageOf(error)}. Correct credential_source.file`,
      )
    })
    return inFormat(text, source)
  }
  if (url !== undefined) {
    const { headers } = source
    const given = isObject(headers) ? Object.entries(headers).map(([name, value]) => [name, String(value)]) : []
    const init = { headers: Object.fromEntries(given), signal }
    if (formatOf(source) !== 'json') {
      const response = await fetch(url, init)
      return (await response.text()).trim()
    }
    return inFormat(JSON.stringify(await send(url, 'the workload', init)), source)
  }
  throw new ConfigError('credential_source of the external_account credentials is not supported. Use a file or a url')
}

function formatOf(source: File): unknown {
  const { format } = source
  return isObject(format) ? format['type'] : undefined
}

function inFormat(text: string, source: File): string {
  if (formatOf(source) !== 'json') return text.trim()
  const { format } = source
  const field = isObject(format) ? textOf(format, 'subject_token_field_name') : undefined
  const parsed: unknown = JSON.parse(text)
  const token = isObject(parsed) && field !== undefined ? textOf(parsed, field) : undefined
  if (token !== undefined) return token
  throw new ConfigError(`the token of the workload has no field ${field}. Correct credential_source.format`)
}
