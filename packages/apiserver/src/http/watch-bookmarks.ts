import type { Engine } from '../serving/engine.js'
import type { Served } from '../serving/served.js'
import type { Sink } from '../verbs/watch.js'
import type { Reply } from './encode.js'
import { columnDefinitions, inMetaVersion } from './table.js'

const BOOKMARK_MS = 60_000
const BEFORE_END_MS = 2_000

/**
 * Sends a bookmark every minute, and one shortly before the watch ends so that the client resumes from a recent revision.
 * The bookmark that ends the initial events comes from verbs/watch.ts. Returns the function that stops the bookmarks.
 */
export function sendBookmarks(
  engine: Engine,
  { resourceVersion }: { readonly resourceVersion?: string },
  seconds: number,
  sink: Sink,
): () => void {
  const start = Number(resourceVersion ?? 0)
  const send = () => {
    const { revision } = engine.store
    // A watch may start at a revision that does not exist yet. A bookmark must not send the client back.
    if (revision >= start) sink({ type: 'BOOKMARK', revision, initialEventsEnd: false })
  }
  const regular = setInterval(send, BOOKMARK_MS)
  const lastMs = seconds * 1000 - BEFORE_END_MS
  const last = lastMs > 0 ? setTimeout(send, lastMs) : undefined
  return () => {
    clearInterval(regular)
    clearTimeout(last)
  }
}

/** The object of a bookmark: nothing but a revision, in the shape that the client asked for. */
export function bookmarkObject(
  served: Served,
  { revision, initialEventsEnd }: { revision: number; initialEventsEnd: boolean },
  reply: Reply,
) {
  const metadata = {
    resourceVersion: String(revision),
    creationTimestamp: null,
    ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  }
  if (reply.media.as === 'PartialObjectMetadata') {
    return inMetaVersion(reply.media, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata })
  }
  if (reply.media.as === 'Table') {
    const object = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
    const cells = columnDefinitions(served).map(() => null)
    return inMetaVersion(reply.media, {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: metadata.resourceVersion },
      columnDefinitions: null,
      rows: [{ cells, object }],
    })
  }
  return { kind: served.type.kind, apiVersion: served.apiVersion, metadata }
}
