import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Writer } from './writer.js'

test('a response grows beyond the expected size', () => {
  const out = new Writer(4)
  out.text('ä'.repeat(100))
  out.copy(Buffer.from('[tail]'), 1, 5)
  assert.equal(out.bytes.toString(), `${'ä'.repeat(100)}tail`)
})

test('memory is reused after its release, and not before', () => {
  const first = new Writer(1_000)
  first.text('first')
  const second = new Writer(1_000)
  second.text('second')
  assert.notEqual(first.bytes.buffer, second.bytes.buffer)
  assert.equal(first.bytes.toString(), 'first')
  const memory = first.bytes.buffer
  first.release()
  const third = new Writer(500)
  third.text('third')
  assert.equal(third.bytes.buffer, memory)
  assert.equal(third.bytes.toString(), 'third')
  assert.equal(second.bytes.toString(), 'second')
  assert.notEqual(new Writer(500).bytes.buffer, memory, 'it is given out once')
})
