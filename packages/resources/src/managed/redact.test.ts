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

test('a secret inside another does not break it up', () => {
  const redactor = new Redactor()
  redactor.add('abcd')
  redactor.add('abcdefgh')
  assert.equal(redactor.redact('abcdefgh abcd'), '<redacted> <redacted>')
})
