import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findInMirror } from './filesystem-mirror.js'
import { parseSource, sourceText } from './source.js'
import { compareVersions, parseConstraint, parseVersion } from './version.js'

const allowed = (constraint: string, versions: string): string =>
  versions
    .split(' ')
    .filter((text) => parseConstraint(constraint)(parseVersion(text)!))
    .join(' ')

test('constraints mean what they mean to Terraform', () => {
  const versions = '0.9.0 1.0.0 1.2.3 1.2.4 1.3.0 2.0.0-beta1 2.0.0'
  assert.equal(allowed('', versions), '0.9.0 1.0.0 1.2.3 1.2.4 1.3.0 2.0.0')
  assert.equal(allowed('1.2.3', versions), '1.2.3')
  assert.equal(allowed('~> 1.2', versions), '1.2.3 1.2.4 1.3.0')
  assert.equal(allowed('~> 1.2.3', versions), '1.2.3 1.2.4')
  assert.equal(allowed('~> 1', versions), '1.0.0 1.2.3 1.2.4 1.3.0')
  assert.equal(allowed('>= 1.0, != 1.2.4, < 2', versions), '1.0.0 1.2.3 1.3.0')
  assert.equal(allowed('= 2.0.0-beta1', versions), '2.0.0-beta1')
  assert.equal(allowed('> 1.3', versions), '2.0.0', 'a prerelease is not chosen by a range')
  assert.throws(() => parseConstraint('newest'), /is not a version constraint: write one such as/)
  assert.throws(() => parseConstraint('>= 1, '), /is not a version constraint/)
})

test('versions are ordered as semantic versioning says', () => {
  const sorted = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0',
    '1.10.0',
  ]
  const versions = [...sorted].reverse().map((text) => parseVersion(text)!)
  assert.deepEqual(
    versions.sort(compareVersions).map(({ text }) => text),
    sorted,
  )
  assert.equal(parseVersion('latest'), undefined)
})

test('a source is a type, a namespace and a host', () => {
  assert.equal(sourceText(parseSource('random')), 'registry.terraform.io/hashicorp/random')
  assert.equal(sourceText(parseSource('Acme/Thing')), 'registry.terraform.io/acme/thing')
  assert.equal(sourceText(parseSource('tf.example.org:8443/acme/thing')), 'tf.example.org:8443/acme/thing')
  for (const text of ['', '../../etc', 'a/b/c/d', '../acme/thing', 'host..name/acme/thing', 'acme/'])
    assert.throws(() => parseSource(text), /is not a provider source: write one such as hashicorp\/random/, text)
})

test('the newest version that is allowed and fits the platform is found in a mirror', async () => {
  const mirror = await mkdtemp(join(tmpdir(), 'crosstie-'))
  const source = parseSource('acme/thing')
  const add = async (version: string, platform: string) => {
    const folder = join(mirror, 'registry.terraform.io', 'acme', 'thing', version, platform)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `terraform-provider-thing_v${version}`), `binary ${version}`)
    return folder
  }
  try {
    await assert.rejects(findInMirror(mirror, source), /has no version of registry\.terraform\.io\/acme\/thing$/)
    await add('1.2.0', 'linux_amd64')
    const folder = await add('1.10.0', 'linux_amd64')
    await add('2.0.0', 'windows_amd64')
    const found = await findInMirror(mirror, source, '', 'linux_amd64')
    assert.equal(found.version, '1.10.0')
    assert.equal(found.path, join(folder, 'terraform-provider-thing_v1.10.0'))
    // The sum that Terraform writes into its lock file for this package.
    assert.equal(found.checksum, 'h1:bl83EajUN8OyIT96uIzKAZRjGNxU8A95XKX+UkEzQKI=')
    assert.equal((await findInMirror(mirror, source, '~> 1.2.0', 'linux_amd64')).version, '1.2.0')
    await assert.rejects(findInMirror(mirror, source, '~> 3.0', 'linux_amd64'), /it has 2\.0\.0, 1\.10\.0, 1\.2\.0/)
    await assert.rejects(findInMirror(mirror, source, '~> 2.0', 'linux_amd64'), /not for the platform linux_amd64/)
  } finally {
    await rm(mirror, { recursive: true, force: true })
  }
})
