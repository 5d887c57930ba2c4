import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { binaryOf, skipWithout } from '../testing/binaries.js'
import { providerEnvironment } from './environment.js'
import { launchProvider } from './launch.js'
import { ProviderOutput } from './output.js'

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !holds(); await wait(20)) {
    assert.ok(Date.now() < deadline, 'the condition did not hold within a minute')
  }
}

async function script(text: string): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-'))
  const path = join(folder, 'provider')
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o755)
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

test('a provider serves, says how much memory it uses, and stops', { skip: skipWithout('time') }, async () => {
  const provider = await launchProvider({ path: binaryOf('time') })
  assert.equal(provider.protocol, 5)
  assert.ok((await provider.client.schema()).resources.has('time_sleep'))
  if (process.platform === 'linux') assert.ok((await provider.memory())! > 1_000_000)
  await provider.stop()
  assert.deepEqual(provider.exit, { code: 0, signal: null, crash: undefined })
  assert.ok(!isAlive(provider.pid))
})

test('a provider that is killed fails the calls in flight as uncertain', { skip: skipWithout('time') }, async () => {
  const provider = await launchProvider({ path: binaryOf('time') })
  const call = provider.client.schema()
  process.kill(provider.pid, 'SIGKILL')
  await assert.rejects(
    call.then(() => provider.client.schema()),
    { name: 'CallError', isUncertain: true },
  )
  assert.equal((await provider.exited).signal, 'SIGKILL')
})

test('a provider ends when the control plane is killed', { skip: skipWithout('time') }, async () => {
  const module = new URL('./launch.js', import.meta.url).href
  const text = `const { launchProvider } = await import(${JSON.stringify(module)})
    const { pid } = await launchProvider({ path: ${JSON.stringify(binaryOf('time'))} })
    console.log(pid)
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] })
  const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)))
  assert.ok(isAlive(pid))
  parent.kill('SIGKILL')
  await until(() => !isAlive(pid))
})

test('a binary that does not serve is reported with its own words', async () => {
  await using quitting = await script('echo "flag provided but not defined" >&2; exit 3')
  await assert.rejects(
    launchProvider({ path: quitting.path }),
    /cannot start the provider .*code 3: flag provided but not defined/s,
  )
  await using chatting = await script('echo hello; sleep 60')
  await assert.rejects(launchProvider({ path: chatting.path }), /not a plugin handshake: "hello"/)
  await using silent = await script('exec sleep 60')
  await assert.rejects(launchProvider({ path: silent.path, startMs: 300 }), /no handshake within 0\.3 s/)
  await assert.rejects(launchProvider({ path: '/nowhere/provider' }), /cannot start the provider \/nowhere\/provider/)
})

test('the environment of a provider holds no credentials of the control plane', async () => {
  const environment = providerEnvironment(
    { PATH: '/bin', AWS_SECRET_ACCESS_KEY: 'x', HOME: '/root', HTTPS_PROXY: 'http://proxy' },
    '/tmp/folder',
    { AWS_PROFILE: 'own' },
  )
  assert.equal(environment['AWS_SECRET_ACCESS_KEY'], undefined)
  assert.equal(environment['HOME'], '/tmp/folder')
  assert.equal(environment['HTTPS_PROXY'], 'http://proxy')
  assert.equal(environment['AWS_PROFILE'], 'own')
})

test('log lines lose their fields, and a stack trace is kept from the panic on', () => {
  const logged: string[] = []
  const output = new ProviderOutput(({ level, message }) => logged.push(`${level} ${message}`))
  output.write('{"@level":"warn","@message":"slow","password":"hunter2"}\nwords\npanic: nil map\n\ngorou')
  output.write('tine 1 [running]:\n')
  assert.deepEqual(logged, ['warn slow'])
  assert.equal(output.crash(), 'panic: nil map\ngoroutine 1 [running]:')
  assert.equal(new ProviderOutput(() => {}).crash(), undefined)
})
