import type { Case } from './harness/case.js'
import type { Http } from './harness/http.js'
import { configMap, configMapsIn } from './harness/kinds.js'
import { conformance } from './harness/suite.js'
import { CLOSE, type Frame, type Handshake, PING, RawWebSocket, TEXT } from './harness/websocket.js'

// The common Java client and browsers watch by WebSocket.

const MINE = 'watch=true&labelSelector=mine'
const mine = (name: string) => configMap(name, { n: '1' }, { labels: { mine: 'yes' } })

async function scene(t: Case): Promise<string> {
  const all = configMapsIn(await t.namespace())
  await t.must('POST', all, { body: mine('a') })
  return all
}

async function dial(t: Case, path: string, handshake?: Handshake, as: Http = t.admin): Promise<RawWebSocket> {
  const socket = await RawWebSocket.open(as, path, handshake)
  t.cleanup(() => socket.close())
  return socket
}

/** Returns the message of a frame. It ends with a newline, as without WebSocket. */
const told = (frame: Frame | undefined) =>
  frame && {
    opcode: frame.opcode,
    event: frame.opcode === TEXT ? JSON.parse(frame.payload.toString()) : frame.payload.toString('latin1'),
    line: frame.payload.at(-1) === 10,
  }

const refusals: Readonly<Record<string, Handshake>> = {
  'no origin': { origin: '' },
  'an origin that is none': { origin: 'null' },
  'an origin without a scheme': { origin: 'console.example' },
  'another version': { 'sec-websocket-version': '8' },
  'no key': { 'sec-websocket-key': '' },
  'several protocols': { 'sec-websocket-protocol': 'one, two' },
}

conformance('websocket', {
  'a watch tells each event in a message': async (t) => {
    const all = await scene(t)
    const socket = await dial(t, `${all}?${MINE}`)
    t.see('head', await socket.head())
    t.see('what is there', told(await socket.next()))
    await t.must('POST', all, { body: mine('b') })
    await t.must('DELETE', `${all}/b`)
    t.see('what comes', [told(await socket.next()), told(await socket.next())])
  },
  'a long event is one message': async (t) => {
    const all = await scene(t)
    const socket = await dial(t, `${all}?watch=true&labelSelector=long`)
    await socket.head()
    await t.must('POST', all, { body: configMap('long', { n: 'x'.repeat(70_000) }, { labels: { long: 'yes' } }) })
    const { opcode, payload } = (await socket.next())!
    t.see('message', { opcode, length: JSON.parse(payload.toString()).object.data.n.length })
  },
  'a watch ends with a close': async (t) => {
    const all = await scene(t)
    const socket = await dial(t, `${all}?${MINE}&timeoutSeconds=3`)
    await socket.head()
    t.see('frames', [told(await socket.next())?.opcode, told(await socket.next()), await socket.next()])
  },
  'pings are answered, a close too, what else is said is not heard': async (t) => {
    const socket = await dial(t, `${await scene(t)}?${MINE}`)
    await socket.head()
    await socket.next()
    socket.send(TEXT, 'hello')
    socket.send(PING, 'are you there')
    t.see('to a ping', told(await socket.next()))
    socket.send(CLOSE, '\x03\xe8')
    t.see('to a close', [told(await socket.next()), await socket.next()])
  },
  'frames that are not masked end the connection': async (t) => {
    const socket = await dial(t, `${await scene(t)}?${MINE}`)
    await socket.head()
    await socket.next()
    socket.socket.write(Buffer.from([0x81, 2, 104, 105]))
    t.see('answer', told(await socket.next()))
  },
  'tables and metadata are told as messages too': async (t) => {
    const all = await scene(t)
    for (const as of ['Table', 'PartialObjectMetadata']) {
      const socket = await dial(t, `${all}?${MINE}`, { accept: `application/json;as=${as};v=v1;g=meta.k8s.io` })
      await socket.head()
      t.see(as, told(await socket.next())?.event.object.kind)
    }
  },
  'protobuf comes in binary messages without a length': async (t) => {
    const all = await scene(t)
    const socket = await dial(t, `${all}?${MINE}`, { accept: 'application/vnd.kubernetes.protobuf' })
    t.see('head', await socket.head())
    const { opcode, payload } = (await socket.next())!
    t.see('message', { opcode, begins: payload.subarray(0, 7).toString('latin1') })
  },
  'a protocol that the client offers is agreed upon': async (t) => {
    const socket = await dial(t, `${await scene(t)}?${MINE}`, { 'sec-websocket-protocol': 'base64.binary.k8s.io' })
    t.see('head', await socket.head())
    t.see('event', told(await socket.next())?.event.type)
  },
  'a token may come as a protocol': async (t) => {
    const all = await scene(t)
    const accounts = `${all.replace('configmaps', 'serviceaccounts')}/watcher`
    await t.must('POST', accounts.replace('/watcher', ''), { body: { metadata: { name: 'watcher' } } })
    const asked = { body: { spec: { expirationSeconds: 600 } } }
    const { token } = (await t.must('POST', `${accounts}/token`, asked)).body.status
    const protocol = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
    const nobody = t.client({})
    const answers: Readonly<Record<string, string>> = {
      'with another protocol': `${protocol}, base64.binary.k8s.io`,
      alone: protocol,
      twice: `${protocol}, ${protocol}, base64.binary.k8s.io`,
      'that is none': 'base64url.bearer.authorization.k8s.io.bm9uZQ, base64.binary.k8s.io',
      'that is not encoded': 'base64url.bearer.authorization.k8s.io.***, base64.binary.k8s.io',
    }
    for (const [what, offered] of Object.entries(answers)) {
      const socket = await dial(t, `${all}?${MINE}`, { 'sec-websocket-protocol': offered }, nobody)
      // The account may not watch. The case only tests that it is authenticated.
      t.see(what, (await socket.head())[0])
    }
  },
  ...Object.fromEntries(
    Object.entries(refusals).map(([what, handshake]) => [
      `no WebSocket with ${what}`,
      async (t: Case) => {
        const socket = await dial(t, `${await scene(t)}?${MINE}`, handshake)
        t.see('head', await socket.head())
        t.see('body', await socket.rest())
      },
    ]),
  ),
  'what is no watch is answered as always': async (t) => {
    const all = await scene(t)
    for (const path of [`${all}/a`, all, `${all}/absent`, '/healthz', `${all}?watch=true&resourceVersion=x`]) {
      const socket = await dial(t, path)
      t.see(path, await socket.head())
    }
  },
  'another protocol than WebSocket is not heard': async (t) => {
    const all = await scene(t)
    for (const upgrade of ['SPDY/3.1', 'h2c']) {
      const socket = await dial(t, `${all}/a`, { upgrade })
      t.see(upgrade, (await socket.head())[0])
    }
  },
})
