import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'

const SMALLS = '/apis/perf.example.org/v1/smalls'
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const WATCHERS = 100
const EVENTS = 500
const LISTS = 5

/**
 * Returns the milliseconds from `started` until a write is acknowledged. The write is retried until the server
 * accepts it.
 */
export async function firstWrite(kubeconfig, started) {
  for (;;) {
    try {
      const session = open(kubeconfig)
      const body = { metadata: { generateName: 'first-' } }
      const { status } = await call(session, 'POST', CONFIG_MAPS, body)
      session.close()
      if (status === 201) return performance.now() - started
    } catch {
      // The server does not respond yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Measures lists in the Table format. */
export async function tableLists(kubeconfig, cpu) {
  const session = open(kubeconfig)
  await call(session, 'GET', SMALLS, undefined, { accept: TABLE })
  const before = cpu()
  for (let i = 0; i < LISTS; i++) await call(session, 'GET', SMALLS, undefined, { accept: TABLE })
  session.close()
  return { 'list as Table': { cpuMs: ((cpu() - before) * 1000) / LISTS } }
}

/** Measures the cost of an event with one writer and a hundred watchers, until all have received it. */
export async function fanOut(kubeconfig, cpu) {
  const sessions = Array.from({ length: 10 }, () => open(kubeconfig))
  const { body } = await call(sessions[0], 'GET', `${SMALLS}?limit=1`)
  const { resourceVersion } = JSON.parse(body).metadata
  let seen = 0
  let done = () => {}
  const all = new Promise((resolve) => (done = resolve))
  for (let i = 0; i < WATCHERS; i++) {
    const stream = sessions[i % sessions.length].request({
      ':path': `${SMALLS}?watch=true&resourceVersion=${resourceVersion}`,
    })
    stream.on('data', (chunk) => {
      for (const byte of chunk) if (byte === 10 && ++seen === WATCHERS * EVENTS) done()
    })
  }
  const writer = open(kubeconfig)
  const before = cpu()
  const started = performance.now()
  for (let i = 0; i < EVENTS; i++) {
    const object = {
      apiVersion: 'perf.example.org/v1',
      kind: 'Small',
      metadata: { generateName: 'fan-' },
      spec: { size: i },
    }
    await call(writer, 'POST', SMALLS, object)
  }
  await all
  const seconds = (performance.now() - started) / 1000
  const used = cpu() - before
  for (const session of [...sessions, writer]) session.destroy()
  return { [`event to ${WATCHERS} watchers`]: { cpuMs: (used * 1000) / EVENTS, rate: EVENTS / seconds } }
}

function open(kubeconfig) {
  const text = readFileSync(kubeconfig, 'utf8')
  const field = (name) => new RegExp(`^\\s+${name}:\\s*"?([^"\\n]+)"?$`, 'm').exec(text)?.[1]
  const pem = (name) => Buffer.from(field(name), 'base64')
  const session = connect(field('server'), {
    ca: pem('certificate-authority-data'),
    cert: pem('client-certificate-data'),
    key: pem('client-key-data'),
  })
  session.on('error', () => {})
  return session
}

function call(session, method, path, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path, 'content-type': 'application/json', ...headers })
    const chunks = []
    let status = 0
    stream.on('response', (answer) => (status = answer[':status']))
    stream.on('data', (chunk) => chunks.push(chunk))
    stream.on('end', () => resolve({ status, body: Buffer.concat(chunks).toString('utf8') }))
    stream.on('error', reject)
    stream.end(body ? JSON.stringify(body) : undefined)
  })
}
