import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capture, openTarget } from '@crosstie/test-conformance'
import { obtain } from './session.js'

const h2spec = await obtain('h2spec')

/**
 * Strict cases that Node's http2 (nghttp2) does not pass (decision 32). It ignores frames on closed streams where
 * RFC 9113 requires an error, and closes the connection where a reset of the stream would suffice.
 */
const KNOWN_FAILURES_MAX = 9
if ('missing' in h2spec) test('h2spec', { skip: h2spec.missing })
else
  test('h2spec, strict: no more failures than those known of Node', { timeout: 300_000 }, async () => {
    const target = await openTarget('embedded')
    try {
      // The test program has no client certificate, so anonymous users get all permissions here.
      const { status } = await target.admin.send({
        method: 'POST',
        path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
        body: {
          metadata: { name: 'everybody' },
          subjects: [{ kind: 'User', name: 'system:anonymous', apiGroup: 'rbac.authorization.k8s.io' }],
          roleRef: { kind: 'ClusterRole', name: 'cluster-admin', apiGroup: 'rbac.authorization.k8s.io' },
        },
      })
      assert.equal(status, 201)
      const { hostname, port } = new URL(target.url)
      // Deterministic timing: a GET lasts for a second, and a POST reads its body before the response. After the
      // response the server ignores errors in the last frames of a stream.
      const path = '/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=1'
      const args = ['--strict', '--tls', '--insecure', '--host', hostname, '--port', port, '--path', path]
      const { stdout, stderr } = await capture(h2spec.path, [...args, '--timeout', '5'], { timeoutMs: 240_000 })
      const [, all, failed] = /^(\d+) tests, \d+ passed, 0 skipped, (\d+) failed$/m.exec(stdout) ?? []
      const known = Number(all) >= 146 && Number(failed) <= KNOWN_FAILURES_MAX
      assert(known, `${stdout.slice(-8_000)}\n${stderr}`)
    } finally {
      await target.stop()
    }
  })
