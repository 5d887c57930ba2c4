import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Redactor } from './redact.js'

test('MR9 a secret is taken out in every form that messages have', () => {
  const redactor = new Redactor()
  redactor.add('p@ss "word"')
  const forms = ['p@ss "word"', 'p%40ss%20%22word%22', 'p@ss \\"word\\"', Buffer.from('p@ss "word"').toString('base64')]
  for (const form of forms) assert.equal(redactor.redact(`a ${form} b`), 'a <redacted> b', form)
})

test('MR9 parts of a credentials file are secrets too, short details are not', () => {
  const redactor = new Redactor()
  redactor.addDocument(
    '[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key=wJalrXUtnFEMI/K7MDENG\n',
  )
  redactor.addDetail('5432')
  assert.equal(redactor.redact('key AKIAIOSFODNN7EXAMPLE is bad, port 5432'), 'key <redacted> is bad, port 5432')
})

test('of a document that names its parts, those that only lead somewhere can be read', () => {
  const redactor = new Redactor()
  redactor.addDocument('{"endpoint":"db.example.org","username":"administrator","password":"s3cr3t"}')
  redactor.addDocument('postgresql://administrator:p%40ssword@db.example.org:5432/')
  const text = 'password of administrator at db.example.org: s3cr3t, p@ssword or p%40ssword'
  assert.equal(
    redactor.redact(text),
    'password of administrator at db.example.org: <redacted>, <redacted> or <redacted>',
  )
})

test('a secret inside another does not break it up', () => {
  const redactor = new Redactor()
  redactor.add('abcd')
  redactor.add('abcdefgh')
  assert.equal(redactor.redact('abcdefgh abcd'), '<redacted> <redacted>')
})

test('a secret inside of something encoded is found wherever it begins', () => {
  const secret = 'hunter22-hunter22'
  const redactor = new Redactor()
  redactor.add(secret)
  for (const before of ['', 'a', 'ab', 'abc', 'admin:']) {
    for (const after of ['', 'x', 'xy']) {
      const encoded = Buffer.from(before + secret + after).toString('base64')
      assert.match(redactor.redact(encoded), /<redacted>/, `${before} ${after}`)
    }
  }
  assert.equal(redactor.redact(Buffer.from(secret).toString('hex')), '<redacted>')
})

test('what the provider reports is masked only where it holds the value of a sensitive field', () => {
  const redactor = new Redactor()
  redactor.addConnection({ endpoint: 'db.example.org', password: 'pw' })
  redactor.addValue('hunter22')
  const reported = { endpoint: 'db.example.org', urls: ['x://u:hunter22@h', 'x://h'], size: 3 }
  assert.deepEqual(redactor.mask(reported), { ...reported, urls: ['x://u:<redacted>@h', 'x://h'] })
  const clean = { endpoint: 'db.example.org' }
  assert.equal(redactor.mask(clean), clean)
})
