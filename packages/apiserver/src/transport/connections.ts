import type { Socket } from 'node:net'
import type { Account, ConnectionLimits } from './limits.js'

/** A connection is destroyed when its client does not complete a graceful close within this time. */
export const CLOSE_GRACE_MS = 5_000

/** Protocol-specific operations of a connection. */
export interface Protocol {
  /**
   * Accepts no further request. Ends the connection when no request is running. Called again when the last one
   * ends.
   */
  close(): void
  /** False when the client abuses the protocol. */
  check?(now: number): boolean
}

/** One TCP connection with its counters. */
export class Connection {
  readonly since = Date.now()
  lastActive = this.since
  /** The number of running requests. */
  active = 0
  /** The number of requests so far. */
  requests = 0
  /** Bytes of request bodies in memory. */
  bodyBytes = 0
  /** The bytes of request bodies so far. */
  bodyBytesTotal = 0
  /** The client, once a request has authenticated it. */
  account: Account | undefined
  protocol: Protocol | undefined
  #closingSince = 0

  /** Unique among open connections. The TLS socket has the same key as the socket below it. */
  readonly key: string
  readonly address: string

  /** @param socket The TCP socket; the TLS socket replaces it after the handshake. */
  constructor(public socket: Socket) {
    this.key = keyOf(socket)
    this.address = socket.remoteAddress ?? ''
  }

  begin(): void {
    this.active++
    this.requests++
  }

  end(): void {
    this.active--
    this.lastActive = Date.now()
    if (this.active === 0 && this.closing) this.protocol?.close()
  }

  get closing(): boolean {
    return this.#closingSince > 0
  }

  get owner(): Account | string {
    return this.account ?? this.address
  }

  get exempt(): boolean {
    return this.account?.exempt === true
  }

  close(): void {
    this.#closingSince ||= Date.now()
    if (this.protocol) this.protocol.close()
    else this.socket.destroy()
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** Closes the connection when it is idle for too long, and destroys it when its client abuses it. */
  check(now: number, { headerTimeoutMs, idleTimeoutMs }: ConnectionLimits): void {
    if (!this.protocol) return // The handshake has a timeout of its own.
    if (this.closing && this.active === 0 && now - this.#closingSince > CLOSE_GRACE_MS) this.destroy()
    else if (this.protocol.check?.(now) === false) this.destroy()
    else if (this.active === 0 && !this.closing) {
      const timeout = this.requests === 0 ? headerTimeoutMs : idleTimeoutMs
      if (now - this.lastActive > timeout) this.close()
    }
  }
}

/** All connections of a listener, bounded in number. */
export class Connections {
  readonly #all = new Map<string, Connection>()

  constructor(readonly max: number) {}

  get size(): number {
    return this.#all.size
  }

  /** Counts a new connection. At the maximum another one is closed for it, or it is refused. */
  accept(socket: Socket): void {
    if (this.#all.size >= this.max) {
      const victim = this.#victim()
      if (!victim) {
        socket.destroy()
        return
      }
      this.remove(victim)
      victim.destroy()
    }
    const connection = new Connection(socket)
    this.#all.set(connection.key, connection)
    socket.once('close', () => this.remove(connection))
  }

  /** Returns the connection below a TLS socket. Undefined when it was closed during the handshake. */
  find(socket: Socket): Connection | undefined {
    return this.#all.get(keyOf(socket))
  }

  remove(connection: Connection): void {
    if (this.#all.get(connection.key) === connection) this.#all.delete(connection.key)
  }

  check(now: number, limits: ConnectionLimits): void {
    for (const connection of this.#all.values()) connection.check(now, limits)
  }

  close(): void {
    for (const connection of this.#all.values()) connection.close()
  }

  destroy(): void {
    for (const connection of this.#all.values()) connection.destroy()
  }

  /**
   * Returns the connection to close: of the client with the most connections the one that was idle longest. A busy
   * connection is closed only when its client holds more than half of all connections. Connections of
   * administrators are never closed.
   */
  #victim(): Connection | undefined {
    const owners = new Map<Account | string, Connection[]>()
    for (const connection of this.#all.values()) {
      if (connection.exempt) continue
      const owned = owners.get(connection.owner)
      if (owned) owned.push(connection)
      else owners.set(connection.owner, [connection])
    }
    const heaviestFirst = [...owners.values()].sort((a, b) => b.length - a.length)
    for (const owned of heaviestFirst) {
      const idle = oldest(owned.filter(({ active }) => active === 0))
      if (idle) return idle
      if (owned.length > this.max / 2) return oldest(owned)
    }
    return undefined
  }
}

/** A connection without requests is preferred to one that had some. */
function oldest(connections: readonly Connection[]): Connection | undefined {
  const unused = connections.filter(({ requests }) => requests === 0)
  const candidates = unused.length > 0 ? unused : connections
  return candidates.reduce<Connection | undefined>(
    (first, each) => (!first || each.lastActive < first.lastActive ? each : first),
    undefined,
  )
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
