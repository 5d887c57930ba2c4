import { connect, isIP, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the proxy that the environment names for a server: HTTPS_PROXY, unless NO_PROXY contains the host, its
 * domain or `*`. Loopback addresses never use a proxy.
 */
export function proxyFor(server: URL, environment: Environment): string | undefined {
  const host = server.hostname.replace(/^\[|\]$/g, '')
  if (host === 'localhost' || host === '::1' || (isIP(host) && host.startsWith('127.'))) return undefined
  const of = (name: string) => environment[name] || environment[name.toLowerCase()] || undefined
  const proxy = server.protocol === 'http:' ? undefined : of('HTTPS_PROXY')
  if (!proxy) return undefined
  const excluded = (of('NO_PROXY') ?? '').split(',').map((entry) => entry.trim().replace(/^\*?\./, ''))
  return excluded.some((entry) => entry && (entry === '*' || host === entry || host.endsWith(`.${entry}`)))
    ? undefined
    : proxy
}

const HEAD_MAX = 64 * 1024

/** Opens a connection to the server through an HTTP proxy. Rejects if the proxy refuses. */
export async function openTunnel(server: URL, proxy: string): Promise<Socket> {
  const proxyUrl = new URL(proxy.includes('://') ? proxy : `http://${proxy}`)
  if (proxyUrl.protocol !== 'http:' && proxyUrl.protocol !== 'https:') {
    throw new Error(`proxy protocol ${proxyUrl.protocol} is not supported; use http: or https:`)
  }
  const socket = await openToProxy(proxyUrl)
  const target = `${server.hostname}:${server.port || 443}`
  const login = proxyUrl.username
    ? `Proxy-Authorization: Basic ${Buffer.from(decodeURIComponent(`${proxyUrl.username}:${proxyUrl.password}`)).toString('base64')}\r\n`
    : ''
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${login}\r\n`)
  const [status] = (await headOf(socket)).split('\r\n')
  if (/^HTTP\/1\.[01] 200\b/.test(status!)) return socket
  socket.destroy()
  throw new Error(`the proxy ${proxyUrl.host} responded: ${status}`)
}

function openToProxy({ protocol, hostname, port }: URL): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    const socket: Socket =
      protocol === 'https:'
        ? tlsConnect({ host, port: Number(port || 443), ...(isIP(host) ? {} : { servername: host }) })
        : connect({ host, port: Number(port || 80) })
    socket.once('error', reject)
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      socket.removeListener('error', reject)
      resolve(socket)
    })
  })
}

/**
 * Reads the head of the proxy's response. The server sends nothing before the client does, so no byte of the tunnel
 * can follow yet.
 */
function headOf(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = ''
    const end = (complete: () => void) => {
      socket.removeListener('data', read)
      socket.removeListener('error', fail)
      socket.removeListener('close', lost)
      complete()
    }
    const fail = (error: Error) => end(() => reject(error))
    const lost = () => fail(new Error('the proxy closed the connection'))
    const read = (chunk: Buffer) => {
      head += chunk.toString('latin1')
      if (head.includes('\r\n\r\n')) {
        socket.pause()
        end(() => resolve(head))
      } else if (head.length > HEAD_MAX) fail(new Error('the response of the proxy is too large'))
    }
    socket.on('data', read)
    socket.on('error', fail)
    socket.on('close', lost)
  })
}
