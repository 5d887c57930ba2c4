import { isObject } from '../json.js'

/** Formats a JSON value as Go's `%v`. Several messages of kube-apiserver quote values this way. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (isObject(value)) {
    const keys = Object.keys(value).sort()
    return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`
  }
  if (typeof value === 'number') return goNumber(value)
  return String(value)
}

/** Formats a number: integers plainly, floats as `%v` with an exponent from 1e21 on or below 1e-4. */
function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return value.toFixed(0)
  const plain = String(value)
  const small = Math.abs(value) < 1e-4 && value !== 0
  const text = small && !plain.includes('e') ? value.toExponential() : plain
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

/** Returns the Go type that a JSON value is decoded to, as messages name it. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)'
  if (Array.isArray(value)) return '[]interface {}'
  if (isObject(value)) return 'map[string]interface {}'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int64'
  return Number.isInteger(value) ? 'int64' : 'float64'
}
