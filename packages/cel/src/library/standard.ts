import { add, compare, divide, modulo, multiply, negate, subtract, unsupported } from '../arithmetic.js'
import { toBool, toBytes, toDouble, toDuration, toInt, toText, toTimestamp, toUint } from '../conversions.js'
import { declare, type FunctionDeclaration, member, type Overload, overload } from '../functions.js'
import { compileRegex } from '../regex.js'
import { localTime } from '../time.js'
import { listOf, mapOf, type Type, typeOfType, typeParam, types } from '../types.js'
import {
  type CelDuration,
  CelList,
  CelMap,
  type CelTimestamp,
  codePoints,
  noSuchOverload,
  typeOf,
  type Value,
} from '../values.js'

const { bool, bytes, double, duration, dyn, int, string, timestamp, uint } = types
const A = typeParam('A')
const B = typeParam('B')
const listOfA = listOf(A)
const mapOfAB = mapOf(A, B)

const same = (type: Type, id: string, result = type): Overload => overload(id, [type, type], result)

const orderedPairs: readonly (readonly [string, Type, Type])[] = [
  ['bool', bool, bool],
  ['int64', int, int],
  ['int64_double', int, double],
  ['int64_uint64', int, uint],
  ['uint64', uint, uint],
  ['uint64_double', uint, double],
  ['uint64_int64', uint, int],
  ['double', double, double],
  ['double_int64', double, int],
  ['double_uint64', double, uint],
  ['string', string, string],
  ['bytes', bytes, bytes],
  ['timestamp', timestamp, timestamp],
  ['duration', duration, duration],
]

function ordering(operator: string, word: string, holds: (order: number) => boolean): FunctionDeclaration {
  const overloads = orderedPairs.map(([name, a, b]) => overload(`${word}_${name}`, [a, b], bool))
  return declare(operator, overloads, { run: (a: Value, b: Value) => holds(compare(a, b, operator)) })
}

/** Implements `x in list` and `key in map`. */
function contains(item: Value, container: Value): boolean {
  if (container instanceof CelList) return container.contains(item)
  if (container instanceof CelMap) return container.find(item) !== undefined
  return noSuchOverload()
}

/** Returns the size of a string, bytes, list or map. */
function sizeOf(value: Value): number {
  if (typeof value === 'string') return codePoints(value)
  if (value instanceof CelList || value instanceof CelMap) return value.size
  if (value instanceof Uint8Array) return value.length
  return unsupported(value, 'size')
}

function text(run: (a: string, b: string) => boolean) {
  return (a: Value, b: Value) => (typeof a === 'string' && typeof b === 'string' ? run(a, b) : noSuchOverload())
}

function matchesRegex(value: Value, pattern: Value): boolean {
  if (typeof value !== 'string') return unsupported(value, 'matches')
  return typeof pattern === 'string' ? compileRegex(pattern).test(value) : noSuchOverload()
}

function timeField(name: string, id: string, of: (local: Date, at: CelTimestamp) => number): FunctionDeclaration {
  return declare(name, [
    member(`timestamp_to_${id}`, [timestamp], int, (at: CelTimestamp) => of(localTime(at, ''), at)),
    member(`timestamp_to_${id}_with_tz`, [timestamp, string], int, (at: CelTimestamp, zone: string) =>
      of(localTime(at, zone), at),
    ),
    ...durationFields(name, id),
  ])
}

const durationUnits: Readonly<Record<string, bigint>> = {
  hours: 3_600_000_000_000n,
  minutes: 60_000_000_000n,
  seconds: 1_000_000_000n,
  milliseconds: 1_000_000n,
}

function durationFields(_name: string, id: string): Overload[] {
  const unit = durationUnits[id]
  if (!unit) return []
  return [member(`duration_to_${id}`, [duration], int, (d: CelDuration) => Number(d.nanos / unit))]
}

function dayOfYear(local: Date): number {
  return Math.round(
    (Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()) - yearStart(local)) / 864e5,
  )
}

function yearStart(local: Date): number {
  return Date.UTC(local.getUTCFullYear(), 0, 1)
}

const identity = (value: Value) => value

function conversion(name: string, from: readonly (readonly [string, Type])[], result: Type, run: (v: Value) => Value) {
  const overloads = from.map(([id, type]) => overload(id, [type], result, type === result ? identity : run))
  return declare(name, overloads)
}

const operators: readonly FunctionDeclaration[] = [
  declare('_?_:_', [overload('conditional', [bool, A, A], A)]),
  declare('_&&_', [overload('logical_and', [bool, bool], bool)]),
  declare('_||_', [overload('logical_or', [bool, bool], bool)]),
  declare('!_', [overload('logical_not', [bool], bool)], {
    run: (value: Value) => (typeof value === 'boolean' ? !value : noSuchOverload()),
  }),
  declare('@not_strictly_false', [overload('not_strictly_false', [bool], bool)]),
  declare('_==_', [overload('equals', [A, A], bool)]),
  declare('_!=_', [overload('not_equals', [A, A], bool)]),
  declare(
    '_+_',
    [
      same(bytes, 'add_bytes'),
      same(double, 'add_double'),
      same(duration, 'add_duration_duration'),
      overload('add_duration_timestamp', [duration, timestamp], timestamp),
      overload('add_timestamp_duration', [timestamp, duration], timestamp),
      same(int, 'add_int64'),
      same(listOfA, 'add_list'),
      same(string, 'add_string'),
      same(uint, 'add_uint64'),
    ],
    { run: add },
  ),
  declare('_/_', [same(double, 'divide_double'), same(int, 'divide_int64'), same(uint, 'divide_uint64')], {
    run: divide,
  }),
  declare('_%_', [same(int, 'modulo_int64'), same(uint, 'modulo_uint64')], { run: modulo }),
  declare('_*_', [same(double, 'multiply_double'), same(int, 'multiply_int64'), same(uint, 'multiply_uint64')], {
    run: multiply,
  }),
  declare('-_', [overload('negate_double', [double], double), overload('negate_int64', [int], int)], { run: negate }),
  declare(
    '_-_',
    [
      same(double, 'subtract_double'),
      same(duration, 'subtract_duration_duration'),
      same(int, 'subtract_int64'),
      overload('subtract_timestamp_duration', [timestamp, duration], timestamp),
      same(timestamp, 'subtract_timestamp_timestamp', duration),
      same(uint, 'subtract_uint64'),
    ],
    { run: subtract },
  ),
  ordering('_<_', 'less', (order) => order < 0),
  ordering('_<=_', 'less_equals', (order) => order <= 0),
  ordering('_>_', 'greater', (order) => order > 0),
  ordering('_>=_', 'greater_equals', (order) => order >= 0),
  declare('_[_]', [overload('index_list', [listOfA, int], A), overload('index_map', [mapOfAB, A], B)]),
  declare('@in', [overload('in_list', [A, listOfA], bool), overload('in_map', [A, mapOfAB], bool)], { run: contains }),
]

const conversions: readonly FunctionDeclaration[] = [
  declare('type', [overload('type', [A], typeOfType(A))], { run: typeOf }),
  conversion(
    'bool',
    [
      ['bool_to_bool', bool],
      ['string_to_bool', string],
    ],
    bool,
    toBool,
  ),
  conversion(
    'bytes',
    [
      ['bytes_to_bytes', bytes],
      ['string_to_bytes', string],
    ],
    bytes,
    toBytes,
  ),
  conversion(
    'double',
    [
      ['double_to_double', double],
      ['int64_to_double', int],
      ['string_to_double', string],
      ['uint64_to_double', uint],
    ],
    double,
    toDouble,
  ),
  conversion(
    'duration',
    [
      ['duration_to_duration', duration],
      ['int64_to_duration', int],
      ['string_to_duration', string],
    ],
    duration,
    toDuration,
  ),
  declare('dyn', [overload('to_dyn', [A], dyn)], { run: identity }),
  conversion(
    'int',
    [
      ['int64_to_int64', int],
      ['double_to_int64', double],
      ['duration_to_int64', duration],
      ['string_to_int64', string],
      ['timestamp_to_int64', timestamp],
      ['uint64_to_int64', uint],
    ],
    int,
    toInt,
  ),
  conversion(
    'string',
    [
      ['string_to_string', string],
      ['bool_to_string', bool],
      ['bytes_to_string', bytes],
      ['double_to_string', double],
      ['duration_to_string', duration],
      ['int64_to_string', int],
      ['timestamp_to_string', timestamp],
      ['uint64_to_string', uint],
    ],
    string,
    toText,
  ),
  conversion(
    'timestamp',
    [
      ['timestamp_to_timestamp', timestamp],
      ['int64_to_timestamp', int],
      ['string_to_timestamp', string],
    ],
    timestamp,
    toTimestamp,
  ),
  conversion(
    'uint',
    [
      ['uint64_to_uint64', uint],
      ['double_to_uint64', double],
      ['int64_to_uint64', int],
      ['string_to_uint64', string],
    ],
    uint,
    toUint,
  ),
]

const others: readonly FunctionDeclaration[] = [
  declare(
    'size',
    [
      overload('size_bytes', [bytes], int),
      member('bytes_size', [bytes], int),
      overload('size_list', [listOfA], int),
      member('list_size', [listOfA], int),
      overload('size_map', [mapOfAB], int),
      member('map_size', [mapOfAB], int),
      overload('size_string', [string], int),
      member('string_size', [string], int),
    ],
    { run: sizeOf },
  ),
  declare(
    'contains',
    [
      member(
        'contains_string',
        [string, string],
        bool,
        text((a, b) => a.includes(b)),
      ),
    ],
    {
      unguarded: true,
    },
  ),
  declare(
    'endsWith',
    [
      member(
        'ends_with_string',
        [string, string],
        bool,
        text((a, b) => a.endsWith(b)),
      ),
    ],
    {
      unguarded: true,
    },
  ),
  declare(
    'startsWith',
    [
      member(
        'starts_with_string',
        [string, string],
        bool,
        text((a, b) => a.startsWith(b)),
      ),
    ],
    {
      unguarded: true,
    },
  ),
  declare('matches', [overload('matches', [string, string], bool), member('matches_string', [string, string], bool)], {
    run: matchesRegex,
  }),
  timeField('getFullYear', 'year', (local) => local.getUTCFullYear()),
  timeField('getMonth', 'month', (local) => local.getUTCMonth()),
  timeField('getDayOfYear', 'day_of_year', dayOfYear),
  timeField('getDayOfMonth', 'day_of_month', (local) => local.getUTCDate() - 1),
  timeField('getDate', 'day_of_month_1_based', (local) => local.getUTCDate()),
  timeField('getDayOfWeek', 'day_of_week', (local) => local.getUTCDay()),
  timeField('getHours', 'hours', (local) => local.getUTCHours()),
  timeField('getMinutes', 'minutes', (local) => local.getUTCMinutes()),
  timeField('getSeconds', 'seconds', (local) => local.getUTCSeconds()),
  timeField('getMilliseconds', 'milliseconds', (local) => local.getUTCMilliseconds()),
]

/** The functions and operators that the language defines. */
export const standardLibrary: readonly FunctionDeclaration[] = [...operators, ...conversions, ...others]
