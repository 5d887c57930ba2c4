import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { attempt, type Clock, microTimestamp, stringify } from '@crosstie/kube'
import { type UserInfo, userFields } from './user.js'

const MAX_BYTES = 100 * 1024 * 1024
const MAX_BACKUPS = 10
const BACKLOG_MAX = 16 * 1024 * 1024
/** Limits of texts that clients choose and errors repeat. Longer ones are cut. */
const MESSAGE_LETTERS_MAX = 4_096
const URI_LETTERS_MAX = 8_192
const AGENT_LETTERS_MAX = 1_024
const DAY_MS = 24 * 3600 * 1000

/** When the log is rotated and how long backups are kept, as in the options of kube-apiserver with the same names. */
export interface AuditRotation {
  /** The file is rotated when it exceeds this size. */
  readonly maxBytes?: number
  /** The number of rotated files to keep. 0 keeps all. */
  readonly maxBackups?: number
  /** Rotated files older than this are removed. 0 keeps them. */
  readonly maxAgeDays?: number
}

/** Where the audit log is written, and how it is rotated. */
export interface AuditOptions extends AuditRotation {
  readonly file: string
  readonly clock: Clock
  /** Called when lines could not be written. Requests continue. */
  readonly failed: (error: unknown) => void
}

/** The record of one finished request: the user, the object and the result, never the content of the object. */
export interface AuditRecord {
  readonly id: string
  readonly uri: string
  readonly verb: string
  readonly user: UserInfo
  readonly impersonated?: UserInfo
  readonly sourceIps: readonly string[]
  readonly userAgent?: string
  readonly target?: {
    readonly group: string
    readonly version: string
    readonly resource: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
    readonly uid?: string
    readonly resourceVersion?: string
  }
  readonly status: { readonly code: number; readonly reason?: string; readonly message?: string }
  /** Milliseconds since the epoch. */
  readonly received: number
  readonly annotations?: Readonly<Record<string, string>>
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', 'connect'])

/** Whether a verb is recorded: reads are not. */
export function isAudited(verb: string): boolean {
  return WRITES.has(verb)
}

/**
 * Writes audit.k8s.io/v1 events of level Metadata, one JSON line each. It never delays or fails a request: lines
 * wait in memory, and when the disk is too slow the newest are dropped and counted.
 */
export class AuditLog {
  readonly #options: AuditOptions
  readonly #file: string
  #handle: FileHandle
  #bytes: number
  #queue: Buffer[] = []
  #queued = 0
  #writing: Promise<void> | undefined
  #dropped = 0

  private constructor(options: AuditOptions, handle: FileHandle, bytes: number) {
    this.#options = options
    this.#file = resolve(options.file)
    this.#handle = handle
    this.#bytes = bytes
  }

  /** Throws when the file cannot be written, so that the server does not start without its audit log. */
  static open(options: AuditOptions): Promise<AuditLog> {
    return attempt(`open the audit log ${options.file}`, async () => {
      await mkdir(dirname(resolve(options.file)), { recursive: true })
      const handle = await open(options.file, 'a', 0o600)
      return new AuditLog(options, handle, (await handle.stat()).size)
    })
  }

  /** The number of events lost since the start. */
  get dropped(): number {
    return this.#dropped
  }

  record(record: AuditRecord): void {
    const line = Buffer.from(`${stringify(eventOf(record, this.#options.clock.now()))}\n`)
    if (this.#queued + line.length > BACKLOG_MAX) {
      this.#dropped++
      return
    }
    this.#queue.push(line)
    this.#queued += line.length
    this.#writing ??= this.#drain()
  }

  /** Writes the waiting lines and closes the file. */
  async close(): Promise<void> {
    await this.#writing
    await this.#handle.close()
  }

  async #drain(): Promise<void> {
    // Requests that end in the same turn of the event loop share one write.
    await new Promise((next) => setImmediate(next))
    while (this.#queue.length > 0) {
      const lines = this.#queue
      const chunk = Buffer.concat(lines)
      this.#queue = []
      this.#queued = 0
      try {
        if (this.#bytes > 0 && this.#bytes + chunk.length > (this.#options.maxBytes ?? MAX_BYTES)) await this.#rotate()
        await this.#handle.appendFile(chunk)
        this.#bytes += chunk.length
      } catch (error) {
        this.#dropped += lines.length
        this.#options.failed(error)
      }
    }
    this.#writing = undefined
  }

  async #rotate(): Promise<void> {
    const extension = extname(this.#file)
    const stem = basename(this.#file, extension)
    const folder = dirname(this.#file)
    const stamp = stampOf(this.#options.clock.now())
    await rename(this.#file, join(folder, `${stem}-${stamp}${extension}`))
    const fresh = await open(this.#file, 'a', 0o600)
    await this.#handle.close()
    this.#handle = fresh
    this.#bytes = 0

    const aside = (await readdir(folder))
      .filter((name) => name.startsWith(`${stem}-`) && name.endsWith(extension) && /-\d{4}-\d\d-\d\dT/.test(name))
      .sort()
    for (const name of this.#outdated(aside, stem.length + 1)) await rm(join(folder, name), { force: true })
  }

  /** Returns the rotated files that exceed the limits of number or age. `aside` is sorted by age, oldest first. */
  #outdated(aside: readonly string[], stampAt: number): readonly string[] {
    const { maxBackups = MAX_BACKUPS, maxAgeDays = 0, clock } = this.#options
    const excess = maxBackups === 0 ? 0 : Math.max(0, aside.length - maxBackups)
    const oldest = maxAgeDays === 0 ? '' : stampOf(clock.now() - maxAgeDays * DAY_MS)
    return aside.filter((name, i) => i < excess || name.slice(stampAt, stampAt + oldest.length) < oldest)
  }
}

const stampOf = (time: number): string => new Date(time).toISOString().replaceAll(':', '-').slice(0, 23)

/** Returns the record with long texts truncated and an annotation that says so, as kube-apiserver does. */
function bounded(record: AuditRecord): AuditRecord {
  const { uri, userAgent = '', status } = record
  const { message = '' } = status
  const fits = uri.length <= URI_LETTERS_MAX && userAgent.length <= AGENT_LETTERS_MAX
  if (fits && message.length <= MESSAGE_LETTERS_MAX) return record
  return {
    ...record,
    uri: uri.slice(0, URI_LETTERS_MAX),
    userAgent: userAgent.slice(0, AGENT_LETTERS_MAX),
    status: { ...status, message: message.slice(0, MESSAGE_LETTERS_MAX) },
    annotations: { ...record.annotations, 'audit.k8s.io/truncated': 'true' },
  }
}

function eventOf(given: AuditRecord, now: number): object {
  const record = bounded(given)
  const { target, status, impersonated, userAgent, annotations } = record
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: record.id,
    stage: 'ResponseComplete',
    requestURI: record.uri,
    verb: record.verb,
    user: userFields(record.user),
    ...(impersonated ? { impersonatedUser: userFields(impersonated) } : {}),
    sourceIPs: record.sourceIps,
    ...(userAgent ? { userAgent } : {}),
    ...(target ? { objectRef: referenceOf(target) } : {}),
    responseStatus: {
      metadata: {},
      ...(status.code < 400 ? {} : { status: 'Failure' }),
      // A message about an invalid value repeats the value.
      ...(status.message && !(target && isConfidential(target)) ? { message: status.message } : {}),
      ...(status.reason ? { reason: status.reason } : {}),
      code: status.code,
    },
    requestReceivedTimestamp: microTimestamp(record.received),
    stageTimestamp: microTimestamp(now),
    ...(annotations ? { annotations } : {}),
  }
}

type Target = NonNullable<AuditRecord['target']>

function referenceOf({ group, version, resource, subresource, namespace, name, uid, resourceVersion }: Target): object {
  return {
    resource,
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
    ...(uid ? { uid } : {}),
    ...(group ? { apiGroup: group } : {}),
    apiVersion: version,
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(subresource ? { subresource } : {}),
  }
}

function isConfidential({ group, resource, subresource }: Target): boolean {
  if (group === '') return resource === 'secrets' || (resource === 'serviceaccounts' && subresource === 'token')
  return group === 'authentication.k8s.io'
}
