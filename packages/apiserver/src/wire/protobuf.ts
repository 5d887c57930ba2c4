export function decodeProtobuf(_bytes: Uint8Array): { value: unknown; duplicates: readonly string[] } { throw new Error('not yet') }
