import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/kubectl.js'
import type { Program } from '../support/program.js'

/** A claim that an aggregate of two resources satisfies, with its dependencies in the wrong order. */
const shop = `
apiVersion: database.crossplane.io/v1alpha1
kind: MySQLInstance
metadata:
  namespace: shop
  name: sql
spec:
  classRef: {apiVersion: aggregation.crossplane.io/v1alpha1, kind: AggregateResourceClass, name: both}
---
apiVersion: aggregation.crossplane.io/v1alpha1
kind: AggregateResourceClass
metadata: {name: both}
aggregationRule:
  classSelector: {matchLabels: {aggregate-to: both}}
specTemplate: {reclaimPolicy: Delete, writeConnectionSecretsToNamespace: shop}
---
apiVersion: nop.crossplane.io/v1alpha1
kind: NopResourceClass
metadata: {name: first, labels: {aggregate-to: both}}
specTemplate: {forProvider: {size: 1}}
---
apiVersion: nop.crossplane.io/v1alpha1
kind: NopResourceClass
metadata: {name: second, labels: {aggregate-to: both}}
specTemplate: {forProvider: {size: 2}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`

const resource = (name: string, size: number, labels = '{}') => `
apiVersion: nop.crossplane.io/v1alpha1
kind: NopResource
metadata: {name: ${name}, labels: ${labels}}
spec: {forProvider: {size: ${size}}}
`

/** A CRD and an object of it. The kind has the same name as another kind. */
const lamps = `
apiVersion: example.org/v1
kind: NopResource
metadata: {name: lamp}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nopresources.example.org}
spec:
  group: example.org
  scope: Cluster
  names: {kind: NopResource, plural: nopresources, singular: nopresource}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                watts: {type: integer, description: How bright it is., minimum: 1}
`

/** Tests every command on any Kubernetes API. */
export function commandSuite(program: () => Program): void {
  const run = (...args: readonly string[]) => program().run(args)
  const ok = (...args: readonly string[]) => program().ok(...args)
  const apply = (text: string, ...args: readonly string[]) =>
    program().run(['apply', '-f', '-', ...args], { input: text })

  test('apply takes what needs each other in order, and waits for kinds that are on their way', async () => {
    const { code, out, err } = await apply(shop)
    assert.equal(code, 0, err)
    assert.deepEqual(out.trim().split('\n'), [
      'namespace/shop created',
      'aggregateresourceclass.aggregation.crossplane.io/both created',
      'nopresourceclass.nop.crossplane.io/first created',
      'nopresourceclass.nop.crossplane.io/second created',
      'mysqlinstance.database.crossplane.io/sql created',
    ])
  })

  test('apply says whether anything changed, and a dry run changes nothing', async () => {
    assert.match((await apply(resource('a', 1, '{team: red}'))).out, /^nopresource\.nop\.crossplane\.io\/a created\n$/)
    // Controllers write the object too. Once they are done, applying the same manifest changes nothing.
    await ok('wait', 'nopresource/a', '--timeout', '120s')
    await eventually(
      async () => (await apply(resource('a', 1, '{team: red}'))).out,
      (out) => out.includes('unchanged'),
      180_000,
    )
    assert.match((await apply(resource('a', 2, '{team: red}'), '--dry-run')).out, /a changed \(dry run\)/)
    assert.equal(await ok('get', 'nopresource/a', '-o', 'jsonpath={.spec.forProvider.size}'), '1\n')
    assert.match((await apply(resource('a', 2, '{team: red}'))).out, /a changed/)
    assert.match((await apply(resource('b', 1), '-o', 'name')).out, /^nopresource\.nop\.crossplane\.io\/b\n$/)
    const made = JSON.parse((await apply(resource('c', 3), '-o', 'json')).out)
    assert.deepEqual([made.metadata.name, made.metadata.managedFields], ['c', undefined])
  })

  test('apply goes on when one is refused, and says where it stands and why', async () => {
    const text = `${resource('bad', 1).replace('size: 1', 'size: many')}---${resource('good', 1)}`
    const { code, out, err } = await apply(text)
    assert.equal(code, 1)
    assert.match(out, /good created/)
    assert.match(err, /-:2: NopResource bad: .*spec\.forProvider\.size/s)
    assert.match(err, /1 of 2 objects were rejected/)
  })

  test('apply explains what it cannot read or find', async () => {
    const unread = await apply('apiVersion: v1\nkind: [')
    assert.deepEqual([unread.code, /-:\d+: /.test(unread.err)], [1, true], unread.err)
    const unknown = await apply(resource('x', 1).replace('NopResource', 'NopRessource'))
    assert.equal(unknown.code, 1)
    assert.match(unknown.err, /does not serve the kind NopRessource .*Did you mean 'NopResource'\?/)
    const none = await run('apply')
    assert.deepEqual([none.code, /-f/.test(none.err)], [2, true])
  })

  test('apply tells whose fields they are, and --force takes them', async () => {
    const mine = await apply(resource('owned', 1), '--field-manager', 'me')
    assert.equal(mine.code, 0, mine.err)
    const theirs = await apply(resource('owned', 2), '--field-manager', 'other')
    assert.equal(theirs.code, 1)
    assert.match(theirs.err, /conflicts? with "me".*--force/s)
    assert.equal((await apply(resource('owned', 2), '--field-manager', 'other', '--force')).code, 0)
  })

  test('wait: conditions, fields, and what to do when the time is up', async () => {
    assert.match(await ok('wait', 'nopresource/a', 'nopresource/b', '--timeout', '120s'), /a has Ready True/)
    await ok('wait', 'mysqlinstance/sql', '-n', 'shop', '--for', 'condition=Ready', '--timeout', '120s')
    await ok('wait', 'mysqlinstance/sql', '-n', 'shop', '--for', 'jsonpath={.status.bindingPhase}=Bound')
    const late = await run('wait', 'nopresource/a', '--for', 'condition=Blue', '--timeout', '0')
    assert.equal(late.code, 4)
    assert.match(late.err, /nopresource\.nop\.crossplane\.io\/a: it has no condition Blue yet\n.*--timeout/)
    assert.equal((await run('wait', 'nopresource/none')).code, 3)
    assert.match((await run('wait', 'nopresource/a', '--for', 'luck')).err, /condition=TYPE/)
  })

  test('get: tables, names, full objects, one field', async () => {
    const table = await ok('get', 'nopresource', 'a')
    assert.match(table, /^NAME +READY +SYNCED +EXTERNAL-NAME +AGE\na +True +True +a +\S+\n$/)
    assert.equal(await ok('get', 'nopresources', '-l', 'team=red', '-o', 'name'), 'nopresource.nop.crossplane.io/a\n')
    assert.doesNotMatch(await ok('get', 'nopresource/a', '--no-headers'), /NAME/)
    const managed = await ok('get', 'managed')
    assert.match(managed, /nopresource\.nop\.crossplane\.io\/a +True/)
    assert.match(managed, /\n\nNAME|^NAME/)
    const yaml = await ok('get', 'nopresource/a', '-o', 'yaml')
    assert.match(yaml, /^apiVersion: nop\.crossplane\.io\/v1alpha1\nkind: NopResource\n/)
    assert.doesNotMatch(yaml, /managedFields/)
    const list = JSON.parse(await ok('get', 'nopresource/a', 'ns/shop', '-o', 'json'))
    assert.deepEqual([list.kind, list.items.length], ['List', 2])
    assert.match(await ok('get', 'claim', '-A'), /^NAMESPACE +NAME.*\nshop +/)
    assert.match(await ok('get', 'secrets', '-n', 'kube-system', '-o', 'json'), /"items"/)
    assert.equal(await ok('get', 'nopresource/a', '-o', 'jsonpath={.metadata.labels.team}'), 'red\n')
  })

  test('get --watch shows what changes', async () => {
    await using watch = program().start('get', 'nopresources', '--watch')
    assert.ok(await watch.says(/^a +True/m), watch.errors)
    await apply(resource('seen', 1))
    assert.ok(await watch.says(/^seen +True +True +seen /m), watch.errors)
    await ok('delete', 'nopresource/seen', '--timeout', '120s')
    assert.ok(await watch.says(/^nopresource\.nop\.crossplane\.io\/seen deleted$/m), watch.errors)
  })

  test('get: what is not there, and what is not understood', async () => {
    const missing = await run('get', 'nopresource', 'a', 'none')
    assert.deepEqual([missing.code, /\na +True/.test(missing.out)], [3, true])
    assert.match(missing.err, /"none" not found/)
    const empty = await run('get', 'buckets')
    assert.deepEqual([empty.code, empty.out], [0, ''])
    assert.match(empty.err, /There are no buckets in the namespace default; -A looks in all/)
    const kind = await run('get', 'nopresorces')
    assert.deepEqual([kind.code, /Did you mean 'nopresources'/.test(kind.err)], [2, true], kind.err)
    const option = await run('get', 'secrets', '--namspace', 'x')
    assert.deepEqual([option.code, /Did you mean '--namespace'/.test(option.err)], [2, true], option.err)
    const format = await run('get', 'secrets', '-o', 'jsno')
    assert.deepEqual([format.code, /Did you mean 'json'/.test(format.err)], [2, true], format.err)
  })

  test('a definition and its object in one file; a word for two kinds lists both', async () => {
    const { code, out, err } = await apply(lamps)
    assert.equal(code, 0, err)
    assert.match(out, /nopresources\.example\.org created\nnopresource\.example\.org\/lamp created/)
    const both = await run('get', 'nopresource')
    assert.equal(both.code, 2)
    assert.match(
      both.err,
      /nopresources\.example\.org\n +nopresources\.nop|nopresources\.nop.*\n +nopresources\.example\.org/,
    )
    assert.match(await ok('get', 'nopresources.example.org'), /lamp/)
    assert.match(
      await ok('explain', 'nopresource.example.org.spec.watts'),
      /<integer>[\s\S]*How bright it is\.\nRange: 1 to/,
    )
    await ok('delete', 'crd/nopresources.example.org', '--timeout', '120s')
  })

  test('describe: state, references, events; nothing that is secret', async () => {
    const told = await eventually(
      () => ok('describe', 'nopresource/a'),
      (text) => text.includes('CreatedExternalResource'),
      180_000,
    )
    assert.match(told, /^Name: +a\nKind: +NopResource\.nop\.crossplane\.io\n/)
    assert.match(told, /Conditions:\n +TYPE +STATUS[\s\S]*Ready +True +Available/)
    assert.match(told, /Spec:\n[\s\S]*size: 2\n[\s\S]*Status:\n[\s\S]*id: a\n/)
    assert.doesNotMatch(told, /crosstie\.io\/creating/, 'how it was made is of no interest any more')
    const claim = await ok('describe', 'mysqlinstance/sql', '-n', 'shop')
    assert.match(claim, /References:\n[\s\S]*resourceRef +AggregateResource shop-sql-\w+ +Ready/)
    const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {password: hunter2, host: db}\n'
    assert.equal((await apply(secret)).code, 0)
    const shown = await ok('describe', 'secret/login')
    assert.match(shown, /password +•+ \(7 bytes\)/)
    assert.doesNotMatch(shown, /hunter2|aHVudGVyMg/)
  })

  test('plan: a claim of a control plane that has fewer providers than the command knows', async () => {
    const { code, out, err } = await run('plan', 'mysqlinstance/sql', '-n', 'shop')
    assert.ok(code === 0 || code === 6, `${code}: ${out}${err}`)
    assert.match(out, /^Plan: /m)
  })

  test('events: of all, of one, as they come', async () => {
    const one = await ok('events', 'nopresource/a')
    assert.match(one, /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n.*CreatedExternalResource +nopresource\/a/)
    assert.match(await ok('events', '-A'), /nopresource\/b/)
    assert.match((await run('events', '-n', 'nowhere')).err, /No events found/)
    await using watch = program().start('events', '--watch')
    await watch.says(/nopresource\/a/)
    await apply(resource('watched', 1))
    assert.ok(await watch.says(/CreatedExternalResource {2}nopresource\/watched/), watch.errors)
  })

  test('explain: kinds of ours and of Kubernetes', async () => {
    const told = await ok('explain', 'nopresource.spec')
    assert.match(told, /forProvider {2}<object> required\n +What the external resource should be\./)
    assert.match(told, /One of: Orphan, Delete\n +Default: "Delete"/)
    assert.match(
      await ok('explain', 'secret.data'),
      /KIND: +Secret\nVERSION: +v1\nFIELD: +data {2}<map\[string\]string>/,
    )
    assert.match(await ok('explain', 'mysqlinstance', '--recursive'), /\n {2}engineVersion {2}<string>/)
    const wrong = await run('explain', 'nopresource.spec.forProvder')
    assert.deepEqual([wrong.code, /Did you mean 'forProvider'/.test(wrong.err)], [2, true])
  })

  test('trace: the tree with classes, for people and for programs', async () => {
    const tree = await eventually(
      () => ok('trace', 'mysqlinstance/sql', '-n', 'shop'),
      (text) => text.match(/ Bound +True/g)?.length === 4,
      180_000,
    )
    assert.match(tree, /MySQLInstance shop\/sql +both +Bound +True/)
    assert.match(tree, /└─ AggregateResource shop-sql-\w+ +both +Bound +True/)
    assert.match(tree, /├─ NopResource shop-sql-\w+ +(first|second) +Bound +True/)
    const traced = JSON.parse(await ok('trace', 'mysqlinstance/sql', '-n', 'shop', '-o', 'json'))
    assert.deepEqual([traced.ready, traced.children[0].children.length], ['True', 2])
    const secret = await run('trace', 'secret/sql', '-n', 'shop')
    assert.deepEqual([secret.code, /secret\/sql is met by nothing: name a claim/.test(secret.err)], [2, true])
    const claims = await run('drift', 'mysqlinstance')
    assert.deepEqual([claims.code, /MySQLInstance is not a managed kind/.test(claims.err)], [2, true])
  })

  test('pause and resume: one object, or a claim with all that was made for it (MR15)', async () => {
    assert.match(await ok('pause', 'nopresource/a'), /nopresource\.nop\.crossplane\.io\/a paused\n.*crosstie resume/)
    await ok('wait', 'nopresource/a', '--for', 'condition=Synced=False', '--timeout', '120s')
    assert.match(await ok('describe', 'nopresource/a'), /Paused: +yes/)
    assert.match(await ok('pause', 'nopresource/a'), /is paused already/)
    await ok('resume', 'nopresource/a')
    await ok('wait', 'nopresource/a', '--for', 'condition=Synced', '--timeout', '120s')
    const paused = await ok('pause', 'mysqlinstance/sql', '-n', 'shop', '--with-parts')
    assert.equal(paused.match(/ paused\n/g)?.length, 4, paused)
    const resumed = await ok('resume', 'mysqlinstance/sql', '-n', 'shop', '--with-parts')
    assert.equal(resumed.match(/ resumed\n/g)?.length, 4, resumed)
  })

  test('connection: keys for everybody, values for who asks', async () => {
    const hidden = await run('connection', 'secret/login')
    assert.match(hidden.out, /^KEY +VALUE\nhost +•+ \(2 characters\)\npassword +•/)
    assert.match(hidden.err, /--show/)
    assert.equal(
      await ok('connection', 'secret/login', '--show', '--format', 'env'),
      "export HOST='db'\nexport PASSWORD='hunter2'\n",
    )
    assert.deepEqual(JSON.parse(await ok('connection', 'secret/login', '--show', '--format', 'json')), {
      host: 'db',
      password: 'hunter2',
    })
    const masked = await run('connection', 'secret/login', '--format', 'json')
    assert.doesNotMatch(masked.out, /hunter2/)
    const none = await run('connection', 'nopresource/a')
    assert.deepEqual([none.code, /writeConnectionSecretToRef/.test(none.err)], [2, true])
  })

  test('completion: commands, options, kinds, names, namespaces', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) assert.match(await ok('completion', shell), /crosstie __complete/)
    assert.equal((await run('completion', 'bsh')).code, 2)
    const complete = async (...words: readonly string[]) => (await ok('__complete', ...words)).trim().split('\n')
    // Completion has a short timeout. On a busy machine the test retries.
    const completes = (words: readonly string[], want: readonly string[]) =>
      eventually(
        () => complete(...words),
        (found) => found.join(' ') === want.join(' '),
        120_000,
      )
    assert.deepEqual(await complete('desc'), ['describe'])
    assert.deepEqual(await complete('get', '--no-h'), ['--no-headers'])
    assert.deepEqual(await complete('get', '-o', 'js'), ['json', 'jsonpath='])
    await completes(['get', 'nopresourcec'], ['nopresourceclass'])
    await completes(['get', 'manag'], ['managed'])
    await completes(['get', 'nopresource/a'], ['nopresource/a'])
    await completes(['describe', 'nopresource', 'wat'], ['watched'])
    await completes(['get', 'secret', '-n', 'sho'], ['shop'])
    await completes(['trace', '-n', 'shop', 'mysqlinstance/'], ['mysqlinstance/sql'])
  })

  test('kinds and version', async () => {
    assert.match(await ok('kinds', 'claim', '-o', 'name'), /^postgresqlinstances\.database\.crossplane\.io$/m)
    const none = await run('kinds', 'unicorns')
    assert.deepEqual([none.code, none.out, /no kind with 'unicorns'/.test(none.err)], [3, '', true])
    assert.match(await ok('kinds', 'nop'), /nopresources +nop\.crossplane\.io\/v1alpha1 +false +NopResource/)
    assert.match(await ok('version'), /^crosstie \d\S+\nserver +Kubernetes v1\.\d+/)
    assert.match(JSON.parse(await ok('version', '-o', 'json')).server.version, /^v1/)
  })

  test('whoever reads only the beginning gets it, and no error', async () => {
    // The output exceeds the buffer of a pipe, and the reader exits immediately. A watch ends when its reader is
    // gone.
    for (const args of [['kinds'], ['get', 'crd', '-o', 'yaml'], ['get', 'crd', '--watch']]) {
      const { code, err } = await program().runUnread(args)
      assert.equal(err, '', args.join(' '))
      assert.ok(code === 0 || code === 130, `${args.join(' ')} ended with ${code}`)
    }
  })

  test('delete: waits until they are gone, in the right order', async () => {
    assert.match(await ok('delete', 'nopresource/b', '--timeout', '120s'), /b deleted/)
    assert.equal((await run('get', 'nopresource/b')).code, 3)
    const again = await run('delete', 'nopresource/b')
    assert.deepEqual([again.code, /not found/.test(again.err)], [3, true])
    await ok('delete', 'nopresource/b', '--ignore-not-found')
    assert.match(await ok('delete', 'nopresource/a', '--dry-run'), /would be deleted/)
    assert.equal((await run('delete', 'nopresource')).code, 2, 'all of a kind only when that is said')
    await ok('delete', 'nopresource', '-l', 'team=red', '--timeout', '120s')
    await mkdir(join(program().folder, 'shop'))
    await writeFile(join(program().folder, 'shop/all.yaml'), shop)
    const gone = await ok('delete', '-f', join(program().folder, 'shop'), '--timeout', '120s')
    assert.match(gone, /mysqlinstance\.database\.crossplane\.io\/sql deleted/)
    assert.match(gone, /namespace\/shop deleted/)
    await ok('wait', 'mysqlinstance/sql', '-n', 'shop', '--for', 'delete')
  })
}
