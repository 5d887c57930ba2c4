import { type Clock, isObject, messageOf, stringify } from '@crosstie/kube'

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type Fields = Readonly<Record<string, unknown>>

/** Lines for operators. Secrets do not get in: see `presentable`. */
export interface Log {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
  /** A log whose every line has these fields too. */
  with(fields: Fields): Log
}

export interface LogOptions {
  readonly format: 'json' | 'text'
  readonly level: Level
  readonly clock: Clock
  /** Gets whole lines, without the line feed. */
  readonly write: (line: string) => void
}

const ranks: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
}

/** A log that writes one line for each message. */
export function createLog(options: LogOptions): Log {
  const format = options.format === 'json' ? jsonLine : textLine
  const make = (bound: Fields): Log => {
    const at = (level: Level) => {
      if (ranks[level] < ranks[options.level]) return () => {}
      return (message: string, fields: Fields = {}) => {
        const time = new Date(options.clock.now()).toISOString()
        options.write(format(time, level, withoutSecrets(message), presentable({ ...bound, ...fields })))
      }
    }
    const with_ = (fields: Fields) => make({ ...bound, ...fields })
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), with: with_ }
  }
  return make({})
}

function jsonLine(time: string, level: Level, message: string, fields: Fields): string {
  return stringify({ time, level, message, ...fields })
}

function textLine(time: string, level: Level, message: string, fields: Fields): string {
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${bare(value)}`)
  return `${time} ${level.toUpperCase().padEnd(5)} ${oneLine(message)}${rest.join('')}`
}

function bare(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : stringify(value)
}

const oneLine = (text: string) => text.replace(/[\r\n]+/g, ' ')

const SENSITIVE_NAME = /token|passw|secret|credential|authorization|privatekey|kubeconfig$/i
const SENSITIVE_TEXT =
  /\bBearer\s+[\w.~+/=-]+|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*-----|$)/g

/**
 * What may be shown of fields: errors as their message, objects of Kubernetes as
 * their name and nothing of what they hold, and no value whose name or form says
 * that it is a secret.
 */
function presentable(fields: Fields): Fields {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    shown[name] = SENSITIVE_NAME.test(name) ? '<redacted>' : presentableValue(value)
  }
  return shown
}

function presentableValue(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value)
  if (value instanceof Error) return withoutSecrets(messageOf(value))
  if (!isObject(value)) return value
  const { kind, metadata } = value as { kind?: unknown; metadata?: { name?: string; namespace?: string } }
  if (kind === undefined || !isObject(metadata)) return presentable(value)
  return `${kind}/${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}`
}

function withoutSecrets(text: string): string {
  return text.replace(SENSITIVE_TEXT, '<redacted>')
}
