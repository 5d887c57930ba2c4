import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { capture } from '@crosstie/test-conformance'
import { obtain } from './session.js'

const here = dirname(fileURLToPath(import.meta.url))
const fixtures = join(here, '../fixtures/crossplane')
const program = join(here, '../../../apps/crosstie/bin/crosstie.js')

const crossplane = await obtain('crossplane')
const kubectl = await obtain('kubectl')
const missing = [crossplane, kubectl].flatMap((each) => ('missing' in each ? [each.missing] : []))[0]

// The unmodified composition engine of Crossplane on the embedded server: its CRDs, a composite resource
// definition, a composition and a claim. Crosstie reconciles the composed resources.
if (missing) test('Crossplane', { skip: missing })
else
  describe('Crossplane 1.14 on the embedded server', () => {
    let folder = ''
    const children: ChildProcess[] = []
    const said = { text: '' }

    const start = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) => {
      const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          said.text += text
        })
      }
      children.push(child)
    }

    const until = async (what: string, seen: () => boolean | Promise<boolean>) => {
      const deadline = Date.now() + 180_000
      while (!(await seen())) {
        if (Date.now() > deadline) assert.fail(`it never came to be that ${what}: ${said.text.slice(-4_000)}`)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }

    const ask = async (...args: readonly string[]) => {
      assert('path' in kubectl)
      const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig'), HOME: folder }
      return await capture(kubectl.path, args, { env, timeoutMs: 180_000 })
    }

    const must = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await ask(...args)
      assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`)
      return stdout
    }

    before(async () => {
      assert('path' in crossplane)
      folder = await mkdtemp(join(tmpdir(), 'crosstie-crossplane-'))
      const where = ['--data-dir', join(folder, 'data'), '--kubeconfig', join(folder, 'kubeconfig')]
      start(process.execPath, [program, 'up', '--providers', 'nop', '--listen', '127.0.0.1:0', ...where])
      await until('the server is ready', () => /^ready:/m.test(said.text))
      const sources = await capture('go', ['list', '-m', '-f', '{{.Dir}}', 'github.com/crossplane/crossplane'], {
        cwd: join(here, '../crossplane'),
      })
      assert.equal(sources.code, 0, sources.stderr)
      // The CRDs exceed the annotation size limit of client-side apply.
      await must('apply', '--server-side', '-f', join(sources.stdout.trim(), 'cluster/crds'))
      await must('create', 'namespace', 'crossplane-system')
      // kubectl fails immediately for a CRD without conditions.
      const served = ['wait', '--for=condition=Established', '--timeout=120s', 'crd', '--all']
      await until('its kinds are served', async () => (await ask(...served)).code === 0)
      const args = ['core', 'start', '--package-runtime=External', '--enable-composition-functions=false']
      const env = { KUBECONFIG: join(folder, 'kubeconfig'), WEBHOOK_ENABLED: 'false', CACHE_DIR: join(folder, 'cache') }
      start(crossplane.path, args, { ...process.env, ...env, HOME: folder })
    })

    after(async () => {
      for (const child of children.reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    })

    test('a claim is composed of what our controllers look after, follows a change, and takes it along when it goes', {
      timeout: 600_000,
    }, async () => {
      await must('apply', '-f', join(fixtures, 'composition.yaml'))
      await until('the claim is served', async () => (await ask('get', 'things.peer.crosstie.io')).code === 0)
      await must('apply', '-f', join(fixtures, 'claim.yaml'))
      await must('wait', '--for=condition=Ready', '--timeout=180s', 'thing/mine')
      assert.equal(await must('get', 'nopresources', '-o', 'jsonpath={.items[*].spec.forProvider.size}'), '7')
      const id = await must('get', 'nopresources', '-o', 'jsonpath={.items[*].status.atProvider.id}')
      await until(
        'the claim tells the id',
        async () => (await must('get', 'thing/mine', '-o', 'jsonpath={.status.id}')) === id,
      )

      await must('patch', 'thing/mine', '--type=merge', '-p', '{"spec":{"size":9}}')
      await until(
        'the change arrives',
        async () => (await must('get', 'nopresources', '-o', 'jsonpath={.items[*].status.atProvider.size}')) === '9',
      )

      await must('delete', 'thing/mine', '--timeout=180s')
      await until('nothing is left', async () => (await must('get', 'nopresources', '-o', 'name')) === '')
    })
  })
