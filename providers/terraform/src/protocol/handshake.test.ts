import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { clientCertificate } from './certificate.js'
import { DiagnosticsError, diagnosticsFromWire, pathText } from './diagnostics.js'
import { parseHandshake } from './handshake.js'

test('the first line of a provider says where it serves', () => {
  assert.deepEqual(parseHandshake('1|6|unix|/tmp/plugin1|grpc|AQID\n'), {
    protocol: 6,
    address: 'unix:/tmp/plugin1',
    serverCertificate: '-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n',
  })
  assert.equal(parseHandshake('1|5|tcp|127.0.0.1:1234|grpc').address, '127.0.0.1:1234')
  assert.equal(parseHandshake('1|5|tcp|127.0.0.1:1234|grpc').serverCertificate, undefined)
})

test('anything else is refused with the reason', () => {
  assert.throws(() => parseHandshake('This binary is a plugin.'), /not a plugin handshake: "This binary is a plugin\."/)
  assert.throws(() => parseHandshake('1|4|tcp|127.0.0.1:1|netrpc'), /protocol 4; versions 5 and 6/)
  assert.throws(() => parseHandshake('1|5|tcp|127.0.0.1:1|netrpc'), /netrpc instead of gRPC/)
})

test('our certificate signs itself and names localhost', () => {
  const certificate = new X509Certificate(clientCertificate().certificate)
  assert.ok(certificate.verify(certificate.publicKey))
  assert.equal(certificate.checkHost('localhost'), 'localhost')
  assert.ok(certificate.ca)
})

test('diagnostics name the argument', () => {
  const diagnostics = diagnosticsFromWire([
    {
      severity: 1,
      summary: 'Invalid value',
      detail: 'must be\n  positive',
      attribute: { steps: [{ attributeName: 'rule' }, { elementKeyInt: 0 }, { attributeName: 'port' }] },
    },
    { severity: 2, summary: 'Old' },
  ])
  assert.equal(pathText(diagnostics[0]!.path), 'rule[0].port')
  assert.equal(new DiagnosticsError(diagnostics).message, 'rule[0].port: Invalid value: must be positive')
})
