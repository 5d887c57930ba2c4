import { type Clock, isObject, messageOf, stringify } from '@crosstie/kube'

/** Severity of a log message, in ascending order. */
export type Level = 'debug' | 'info' | 'warn' | 'error'
/** Structured fields of a log message. */
export type Fields = Readonly<Record<string, unknown>>

/** A structured log. Values that may be secrets are redacted; see `presentable`. */
export interface Log {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
  /** Returns a log that adds these fields to every message. */
  with(fields: Fields): Log
}

/** Options of createLog. */
export interface LogOptions {
  readonly format: 'json' | 'text'
  readonly level: Level
  readonly clock: Clock
  /** Receives complete lines without the line feed. */
  readonly write: (line: string) => void
}

const ranks: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/** A log that drops every message. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
}

/** Creates a log that writes one line per message. */
export function createLog(options: LogOptions): Log {
  const format = options.format === 'json' ? jsonLine : textLine
  const create = (bound: Fields): Log => {
    const at = (level: Level) => {
      if (ranks[level] < ranks[options.level]) return () => {}
      return (message: string, fields: Fields = {}) => {
        const time = new Date(options.clock.now()).toISOString()
        options.write(format(time, level, withoutSecrets(message), presentable({ ...bound, ...fields })))
      }
    }
    const with_ = (fields: Fields) => create({ ...bound, ...fields })
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), with: with_ }
  }
  return create({})
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
 * Returns the fields in a form that is safe to log: errors as their message, Kubernetes objects as their name, and
 * values redacted whose name or format suggests a secret.
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
