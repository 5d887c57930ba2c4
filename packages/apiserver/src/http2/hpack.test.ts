import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HeaderDecoder, HeaderEncoder } from './hpack.js'
import { decodeHuffman } from './huffman.js'
import { ConnectionFailure } from './protocol.js'

const bytes = (hex: string) => Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')

function decode(decoder: HeaderDecoder, block: Uint8Array): string[] {
  const fields: string[] = []
  decoder.decode(block, ({ name, value, proper }) => fields.push(`${name}: ${value}${proper ? '' : ' (improper)'}`))
  return fields
}

const same = [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com']
const examples: Record<string, { because: string; blocks: readonly (readonly [string, readonly string[]])[] }> = {
  'C.3': {
    because: 'strings as they are, each block referring to those before',
    blocks: [
      ['8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d', same],
      ['8286 84be 5808 6e6f 2d63 6163 6865', [...same, 'cache-control: no-cache']],
      [
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
        [
          ':method: GET',
          ':scheme: https',
          ':path: /index.html',
          ':authority: www.example.com',
          'custom-key: custom-value',
        ],
      ],
    ],
  },
  'C.4': {
    because: 'the same, packed',
    blocks: [
      ['8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', same],
      ['8286 84be 5886 a8eb 1064 9cbf', [...same, 'cache-control: no-cache']],
    ],
  },
  'C.6': {
    because: 'a table of 256 bytes forgets; the first block is preceded by its size',
    blocks: [
      [
        '3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        [
          ':status: 302',
          'cache-control: private',
          'date: Mon, 21 Oct 2013 20:13:21 GMT',
          'location: https://www.example.com',
        ],
      ],
      [
        '4883 640e ffc1 c0bf',
        [
          ':status: 307',
          'cache-control: private',
          'date: Mon, 21 Oct 2013 20:13:21 GMT',
          'location: https://www.example.com',
        ],
      ],
    ],
  },
}

for (const [name, { because, blocks }] of Object.entries(examples)) {
  test(`headers are unpacked as RFC 7541 shows, ${name}: ${because}`, () => {
    const decoder = new HeaderDecoder()
    for (const [block, want] of blocks) assert.deepEqual(decode(decoder, bytes(block)), want)
  })
}

const corrupt: Record<string, { because: string; block: string }> = {
  NoSuchIndex: { because: 'nothing was remembered', block: 'be' },
  IndexZero: { because: 'nothing has the number 0', block: '80' },
  NumberWithoutEnd: { because: 'it would never be one', block: 'ffffffffffffffffffff' },
  CutString: { because: 'it says five bytes and has one', block: '00 05 61' },
  CutNumber: { because: 'there is no more', block: '7f' },
  TableTooLarge: { because: 'we promised 4,096 bytes', block: '3fe21f' },
  TableSizeAmid: { because: 'it belongs before all headers', block: '82 20' },
  PaddedWithZeros: { because: 'padding is ones', block: '00 81 18 01 61' },
  EndMark: { because: 'it stands for the end of padding only', block: '00 84 ffffffff 01 61' },
}

for (const [name, { because, block }] of Object.entries(corrupt)) {
  test(`headers that cannot be unpacked end the connection, ${name}: ${because}`, () => {
    assert.throws(() => decode(new HeaderDecoder(), bytes(block)), ConnectionFailure)
  })
}

test('names and values that headers may not have are noticed, when they are referred to as well', () => {
  const decoder = new HeaderDecoder()
  const literal = (name: string, value: string) =>
    Buffer.concat([
      Buffer.from([0x40, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ])
  const fields = decode(
    decoder,
    Buffer.concat([literal('A', 'x'), literal('a', 'x\n'), literal('a', ' x'), literal('a', '')]),
  )
  assert.deepEqual(fields, ['A: x (improper)', 'a: x\n (improper)', 'a:  x (improper)', 'a: '])
  // Number 62 is the newest.
  assert.deepEqual(decode(decoder, Buffer.from([0x80 | 62, 0x80 | 65])), ['a: ', 'A: x (improper)'])
})

test('what is encoded is what is decoded', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,40}$/)
  const value = fc.stringMatching(/^[!-~]{0,300}$/)
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), fc.dictionary(name, value, { maxKeys: 20 }), (status, headers) => {
      const block = new HeaderEncoder().encode(status, headers)
      const want = [`:status: ${status}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
      assert.deepEqual(decode(new HeaderDecoder(), block), want)
    }),
  )
})

test('random bytes are unpacked or refused, and never anything else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (block) => {
      try {
        decode(new HeaderDecoder(), block)
      } catch (error) {
        assert(error instanceof ConnectionFailure, String(error))
      }
      decodeHuffman(block, 0, block.length)
    }),
    { numRuns: 2_000 },
  )
})
