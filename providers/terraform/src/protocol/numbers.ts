/**
 * Numbers of the Terraform type system have arbitrary precision. A value that a JavaScript number or bigint carries
 * exactly is one; any other is a Decimal.
 */
export type CtyNumber = number | bigint | Decimal

/** A fraction that a JavaScript number cannot carry exactly, in plain decimal notation without trailing zeros. */
export class Decimal {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text
  }
}

const literal = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

/** More decimal places than this are refused: they would only exhaust memory. */
const EXPONENT_MAX = 10_000

/** Reads a decimal literal with any number of digits. The result is canonical: equal numbers give equal results. */
export function parseNumber(text: string): CtyNumber {
  const match = literal.exec(text.trim())
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match ?? []
  if (!match || whole + fraction === '' || Math.abs(Number(exponent)) > EXPONENT_MAX) {
    throw new Error(`${JSON.stringify(text)} is not a number`)
  }
  const plain = shifted(whole + fraction, fraction.length - Number(exponent))
  const negative = sign === '-' && plain !== '0' ? '-' : ''
  return canonical(negative + plain)
}

/** A JavaScript number as its shortest decimal text reads: 0.1 is one tenth, not the nearest double. */
export function numberFromJs(value: number): CtyNumber {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value
  if (!Number.isFinite(value)) throw new Error(`${value} is not a number that Terraform can represent`)
  return parseNumber(String(value))
}

/** The exact value of a double. */
export function numberFromDouble(value: number): CtyNumber {
  return Number.isSafeInteger(value) ? numberFromJs(value) : parseNumber(exactText(value))
}

/** Plain decimal notation. */
export function numberText(value: CtyNumber): string {
  if (typeof value !== 'number') return String(value)
  if (Number.isInteger(value)) return BigInt(value).toString()
  const text = String(value)
  return text.includes('e') ? plainText(text) : text
}

/** The double that equals the number exactly, if there is one. */
export function exactDouble(value: CtyNumber): number | undefined {
  const text = numberText(value)
  const double = Number(text)
  return Number.isFinite(double) && exactText(double) === text ? double : undefined
}

export function isNumber(value: unknown): value is CtyNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Decimal
}

function canonical(text: string): CtyNumber {
  if (!text.includes('.')) {
    const integer = BigInt(text)
    return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer
  }
  const double = Number(text)
  return plainText(String(double)) === text ? double : new Decimal(text)
}

/** Digits with the decimal point `places` from the right, without needless zeros. */
function shifted(digits: string, places: number): string {
  const padded = places < 0 ? digits + '0'.repeat(-places) : digits.padStart(places + 1, '0')
  const point = padded.length - Math.max(places, 0)
  const whole = padded.slice(0, point).replace(/^0+(?=\d)/, '')
  const fraction = padded.slice(point).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

function plainText(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = literal.exec(text)!
  const plain = shifted(whole + fraction, fraction.length - Number(exponent))
  return sign === '-' && plain !== '0' ? `-${plain}` : plain
}

/** All decimal digits of a double: its mantissa times a power of two, written with a power of ten. */
function exactText(value: number): string {
  let places = 0
  let scaled = Math.abs(value)
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    places++
  }
  const digits = (BigInt(scaled) * 5n ** BigInt(places)).toString()
  const text = shifted(digits, places)
  return value < 0 && text !== '0' ? `-${text}` : text
}
