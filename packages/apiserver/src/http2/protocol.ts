/** The numbers of HTTP/2 (RFC 9113). */
export const Frame = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

export const Flag = { ACK: 0x1, END_STREAM: 0x1, END_HEADERS: 0x4, PADDED: 0x8, PRIORITY: 0x20 } as const

export const Setting = {
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const

export const Code = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
} as const
export type Code = (typeof Code)[keyof typeof Code]

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
export const FRAME_HEADER_BYTES = 9
/** The least that everybody takes, and what we take. */
export const FRAME_BYTES_MAX = 16_384
export const FRAME_BYTES_LIMIT = 16_777_215
export const WINDOW_DEFAULT = 65_535
export const WINDOW_MAX = 2_147_483_647

/** The whole connection is of no more use. */
export class ConnectionFailure extends Error {
  override readonly name = 'ConnectionFailure'

  constructor(
    readonly code: Code,
    message: string,
  ) {
    super(message)
  }
}

/** One stream is of no more use; the others go on. */
export class StreamFailure extends Error {
  override readonly name = 'StreamFailure'

  constructor(
    readonly stream: number,
    readonly code: Code,
    message: string,
  ) {
    super(message)
  }
}

/** The client did what it may not. */
export function wrong(what: string): ConnectionFailure {
  return new ConnectionFailure(Code.PROTOCOL_ERROR, what)
}

export function windowTooLarge(): ConnectionFailure {
  return new ConnectionFailure(Code.FLOW_CONTROL_ERROR, 'a window cannot be so large')
}
