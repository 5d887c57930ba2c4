import type { Files, OpenFile, OpenMode } from './files.js'

const BLOCK = 4096
const SECTOR = 512

interface Inode {
  /** The content of the page cache, which readers get. */
  visible: Buffer
  /** The content that is certainly on the disk. */
  durable: Buffer
  /** Blocks that differ between the two. */
  readonly dirty: Set<number>
}

type NameChange =
  | { readonly do: 'create'; readonly path: string; readonly inode: Inode }
  | { readonly do: 'rename'; readonly from: string; readonly to: string }
  | { readonly do: 'remove'; readonly path: string }

/** Probabilities of disk faults per operation. */
export interface DiskFaults {
  readonly shortWrite: number
  /** A write fails half way, as on a full or broken disk. */
  readonly failedWrite: number
  /** A sync fails, and the kernel discards the pending writes. */
  readonly failedSync: number
}

const noFaults: DiskFaults = { shortWrite: 0, failedWrite: 0, failedSync: 0 }

/**
 * A disk in memory that can fail and lose power. After a power loss only synced data is certain. Any other block
 * may be old, new, torn between sectors, or garbage, and any name may be old or new.
 */
export class SimulatedDisk implements Files {
  faults: DiskFaults = noFaults
  /** The free space in bytes. */
  free = Infinity
  /** The number of operations until the power fails. Then no operation completes. */
  operationsLeft = Infinity
  readonly lost: Promise<void>
  #powerLost: () => void = () => {}
  #dark = false
  #names = new Map<string, Inode>()
  #durableNames = new Map<string, Inode>()
  #pending: NameChange[] = []
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
    this.lost = new Promise((resolve) => {
      this.#powerLost = resolve
    })
  }

  async lock(): Promise<{ release(): Promise<void> }> {
    return { release: async () => {} }
  }

  async makeDirectory(): Promise<void> {}

  async list(directory: string): Promise<readonly string[]> {
    await this.#operation()
    const inside = [...this.#names.keys()].filter((path) => path.startsWith(`${directory}/`))
    return inside.map((path) => path.slice(directory.length + 1))
  }

  async open(path: string, mode: OpenMode): Promise<OpenFile> {
    await this.#operation()
    let inode = this.#names.get(path)
    if (mode === 'read') {
      if (!inode) throw systemError('ENOENT', path)
      return this.#file(inode, false)
    }
    if (inode) throw systemError('EEXIST', path)
    inode = { visible: Buffer.alloc(0), durable: Buffer.alloc(0), dirty: new Set() }
    this.#changeName({ do: 'create', path, inode })
    return this.#file(inode, mode === 'durable')
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#operation()
    if (!this.#names.has(from)) throw systemError('ENOENT', from)
    this.#changeName({ do: 'rename', from, to })
  }

  async remove(path: string): Promise<void> {
    await this.#operation()
    const inode = this.#names.get(path)
    if (!inode) throw systemError('ENOENT', path)
    this.free += inode.visible.length
    this.#changeName({ do: 'remove', path })
  }

  async syncDirectory(): Promise<void> {
    await this.#operation()
    if (this.#chance(this.faults.failedSync)) throw systemError('EIO', 'fsync')
    this.#durableNames = new Map(this.#names)
    this.#pending = []
  }

  /** From now on no operation completes. */
  losePower(): void {
    this.#dark = true
    this.#powerLost()
  }

  /** Returns the disk in a possible state after the power returned. */
  afterPowerLoss(): SimulatedDisk {
    const found = new SimulatedDisk(this.#random)
    const names = new Map(this.#durableNames)
    for (const change of this.#pending) if (this.#chance(0.5)) applyName(names, change)
    const survivors = new Map<Inode, Inode>()
    for (const [path, inode] of names) {
      if (!survivors.has(inode)) survivors.set(inode, this.#survivor(inode))
      found.#names.set(path, survivors.get(inode)!)
    }
    found.#durableNames = new Map(found.#names)
    return found
  }

  /** Returns everything that could be read from the disk and the cache, to search for secrets. */
  contents(): ReadonlyMap<string, Buffer> {
    return new Map([...this.#names].map(([path, { visible }]) => [path, visible]))
  }

  /** Damages a file on purpose. */
  alter(path: string, change: (content: Buffer) => Buffer): void {
    const inode = this.#names.get(path)!
    inode.visible = change(Buffer.from(inode.visible))
    inode.durable = Buffer.from(inode.visible)
  }

  #file(inode: Inode, writesThrough: boolean): OpenFile {
    return {
      size: async () => inode.visible.length,
      read: async (into, position) => {
        await this.#operation()
        return position >= inode.visible.length ? 0 : inode.visible.copy(into, 0, position)
      },
      write: async (bytes, position) => {
        await this.#operation()
        const written = this.#write(inode, bytes, position)
        if (!writesThrough) return written
        await this.#operation()
        this.#sync(inode)
        return written
      },
      truncate: async (size) => {
        await this.#operation()
        if (size >= inode.visible.length) return
        this.free += inode.visible.length - size
        inode.visible = Buffer.from(inode.visible.subarray(0, size))
        for (const block of inode.dirty) if (block * BLOCK >= size) inode.dirty.delete(block)
      },
      sync: async () => {
        await this.#operation()
        this.#sync(inode)
      },
      close: async () => {},
    }
  }

  #write(inode: Inode, bytes: Uint8Array, position: number): number {
    const { shortWrite, failedWrite } = this.faults
    const noSpace = position + bytes.length - inode.visible.length > this.free
    const fails = noSpace || this.#chance(failedWrite)
    const short = fails || this.#chance(shortWrite)
    const count = short ? Math.max(fails ? 0 : 1, Math.floor(this.#random() * bytes.length)) : bytes.length
    const room = noSpace ? Math.max(0, Math.min(count, inode.visible.length + this.free - position)) : count
    this.free -= Math.max(0, position + room - inode.visible.length)
    put(inode, bytes.subarray(0, room), position)
    if (fails) throw systemError(noSpace ? 'ENOSPC' : 'EIO', 'write')
    return room
  }

  #sync(inode: Inode): void {
    if (this.#chance(this.faults.failedSync)) {
      // The cache holds the new blocks as clean. The content of the disk is unknown.
      inode.durable = this.#survivor(inode).visible
      inode.dirty.clear()
      throw systemError('EIO', 'fdatasync')
    }
    for (const block of inode.dirty) copyBlock(inode.visible, inode, block)
    inode.durable = resized(inode.durable, inode.visible.length)
    inode.dirty.clear()
  }

  #survivor(inode: Inode): Inode {
    const luck = this.#random()
    // Often all blocks were written, or none. Then a whole unacknowledged batch is left.
    if (luck < 0.3) return copyOf(inode.visible)
    if (luck < 0.5) return copyOf(inode.durable)
    const [shorter, longer] = [inode.durable.length, inode.visible.length].sort((a, b) => a - b) as [number, number]
    const size = between(this.#random, shorter, longer)
    const content = Buffer.from(resized(inode.durable, size))
    for (const block of inode.dirty) {
      const blockEnd = Math.min(size, inode.visible.length, (block + 1) * BLOCK)
      for (let at = block * BLOCK; at < blockEnd; at += SECTOR) {
        const end = Math.min(at + SECTOR, blockEnd)
        const fate = this.#random()
        if (fate < 0.6) inode.visible.copy(content, at, at, end)
        else if (fate < 0.65) for (let i = at; i < end; i++) content[i] = Math.floor(this.#random() * 256)
      }
    }
    return copyOf(content)
  }

  #changeName(change: NameChange): void {
    applyName(this.#names, change)
    this.#pending.push(change)
  }

  /** Takes a random time in which other operations continue. */
  async #operation(): Promise<void> {
    if (this.operationsLeft-- <= 0) this.losePower()
    else if (this.#chance(0.5)) await new Promise((resolve) => setImmediate(resolve))
    if (this.#dark) await new Promise(() => {})
  }

  #chance(probability: number): boolean {
    return probability > 0 && this.#random() < probability
  }
}

function copyOf(content: Buffer): Inode {
  return { visible: Buffer.from(content), durable: Buffer.from(content), dirty: new Set() }
}

function put(inode: Inode, bytes: Uint8Array, position: number): void {
  if (bytes.length === 0) return
  inode.visible = grown(inode.visible, position + bytes.length)
  inode.visible.set(bytes, position)
  const last = Math.floor((position + bytes.length - 1) / BLOCK)
  for (let block = Math.floor(position / BLOCK); block <= last; block++) inode.dirty.add(block)
}

function copyBlock(from: Buffer, to: Inode, block: number): void {
  const end = Math.min(from.length, (block + 1) * BLOCK)
  to.durable = grown(to.durable, end)
  from.copy(to.durable, block * BLOCK, block * BLOCK, end)
}

function grown(buffer: Buffer, size: number): Buffer {
  return buffer.length >= size ? buffer : Buffer.concat([buffer], size)
}

function resized(buffer: Buffer, size: number): Buffer {
  return grown(buffer, size).subarray(0, size)
}

function between(random: () => number, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1))
}

function applyName(names: Map<string, Inode>, change: NameChange): void {
  if (change.do === 'create') names.set(change.path, change.inode)
  else if (change.do === 'remove') names.delete(change.path)
  else {
    const inode = names.get(change.from)
    if (inode) names.set(change.to, inode)
    names.delete(change.from)
  }
}

function systemError(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code })
}

/** Returns a pseudo-random generator. The same seed gives the same numbers. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
