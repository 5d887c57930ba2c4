import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJson, encodeJson } from './json.js'
import { decodeMsgpack, encodeMsgpack } from './msgpack.js'
import { Decimal, numberFromDouble, numberFromJs, numberText, parseNumber } from './numbers.js'
import { type CtyType, listOf, mapOf, objectOf, parseType, setOf, tupleOf, typeToJson } from './types.js'
import { Dynamic, sameValue, unknown, type Value } from './values.js'

const numbers = [
  '0',
  '-1',
  '9007199254740991',
  '9007199254740993',
  '-9223372036854775808',
  '18446744073709551616',
  '123456789012345678901234567890',
  '0.1',
  '0.5',
  '-1234.000000000000000000000000000000000001',
  '0.1000000000000000055511151231257827021181583404541015625',
]

test('numbers keep all their digits', () => {
  for (const text of numbers) {
    const value = parseNumber(text)
    assert.equal(numberText(value), text)
    const through = decodeMsgpack('number', encodeMsgpack('number', value))
    assert.ok(sameValue('number', through, value), `msgpack changed ${text}`)
    assert.equal(encodeJson('number', decodeJson('number', text)), text)
  }
  assert.equal(parseNumber('1e3'), 1000)
  assert.equal(parseNumber('-0.0'), 0)
  assert.equal(parseNumber('2.50'), 2.5)
  assert.throws(() => parseNumber('1.2.3'), /is not a number/)
  assert.throws(() => parseNumber('1e999999'), /is not a number/)
})

test('a JavaScript number stands for its decimal text, a double for its exact value', () => {
  assert.equal(numberFromJs(0.1), 0.1)
  assert.ok(numberFromDouble(0.1) instanceof Decimal)
  assert.equal(numberFromDouble(0.25), 0.25)
  assert.equal(numberText(1e-7), '0.0000001')
  assert.equal(numberText(numberFromJs(1e21)), '1000000000000000000000')
})

test('numbers are encoded as Terraform encodes them', () => {
  const encoded = (text: string) => Buffer.from(encodeMsgpack('number', parseNumber(text))).toString('hex')
  assert.equal(encoded('7'), '07')
  assert.equal(encoded('0.5'), 'cb3fe0000000000000')
  assert.equal(encoded('0.1'), `a3${Buffer.from('0.1').toString('hex')}`)
  assert.equal(encoded('9007199254740993'), 'cf0020000000000001')
  assert.equal(encoded('18446744073709551616').slice(0, 2), 'b4')
})

const rich: CtyType = objectOf({
  name: 'string',
  tags: mapOf('string'),
  ports: setOf('number'),
  rules: listOf(objectOf({ from: 'number', open: 'bool' })),
  pair: tupleOf(['string', 'bool']),
  any: 'dynamic',
})

test('values of every type survive both encodings', () => {
  const value: Value = {
    name: 'ä',
    tags: { a: 'b' },
    ports: [443, 80],
    rules: [{ from: 1, open: true }],
    pair: ['x', false],
    any: new Dynamic(objectOf({ n: 'number' }), { n: 12345678901234567890n }),
  }
  assert.ok(sameValue(rich, decodeMsgpack(rich, encodeMsgpack(rich, value)), value))
  assert.ok(sameValue(rich, decodeJson(rich, encodeJson(rich, value)), value))
})

test('an unknown value is extension 0, and one of which something is known is unknown too', () => {
  assert.equal(Buffer.from(encodeMsgpack('string', unknown)).toString('hex'), 'd40000')
  assert.equal(decodeMsgpack('string', Buffer.from('d40000', 'hex')), unknown)
  assert.equal(decodeMsgpack('string', Buffer.from('c7030c8101c2', 'hex')), unknown)
  assert.throws(() => encodeJson('string', unknown), /not known yet/)
})

test('sets compare by value and lists by order', () => {
  assert.ok(sameValue(setOf('string'), ['a', 'b', 'a'], ['b', 'a']))
  assert.ok(!sameValue(listOf('string'), ['a', 'b'], ['b', 'a']))
  assert.ok(sameValue(setOf(setOf('number')), [[1, 2], [3]], [[3], [2, 1]]))
  assert.ok(!sameValue('dynamic', new Dynamic('string', null), new Dynamic('bool', null)))
})

test('a value that does not fit is refused by place, never by content', () => {
  assert.throws(
    () => encodeMsgpack(objectOf({ a: listOf('number') }), { a: ['hunter2'] }),
    (error: Error) => /a\[0\] is not a number/.test(error.message) && !error.message.includes('hunter2'),
  )
  assert.throws(() => decodeMsgpack('bool', encodeMsgpack('string', 'x')), /not a bool/)
})

test('types are read and written', () => {
  const text = '["object",{"a":["list","string"],"b":["tuple",["bool","dynamic"]],"c":["map",["set","number"]]}]'
  assert.equal(JSON.stringify(typeToJson(parseType(text))), text)
  assert.throws(() => parseType('"capsule"'), /unknown Terraform type/)
})
