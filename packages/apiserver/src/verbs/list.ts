import { badRequest, type FieldError, fieldErrors, invalid, StatusError } from '@crosstie/kube'
import type { Engine } from '../serving/engine.js'
import type { Request } from '../serving/request.js'
import type { View } from '../serving/served.js'
import { CompactedError, type Stored, type StoredPage } from '../store/store.js'
import { continueAfter, decodeContinue, INCONSISTENT } from './continue.js'
import { checkNotInFuture, parseListRevision } from './revision.js'
import { type Selection, selectionOf } from './selection.js'

/** The parameters of a list. */
export interface ListParameters {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: string
  /** Refused: it applies to watches only. */
  readonly sendInitialEvents?: boolean
}

/** The result of a list. */
export interface Listing {
  readonly views: readonly View[]
  readonly revision: number
  readonly continue: string
  readonly remaining: number | undefined
}

/** GET of a collection: all objects at one revision, or a page of them. Throws 410 for a compacted revision. */
export async function list(engine: Engine, request: Request, parameters: ListParameters): Promise<Listing> {
  const { served, namespace } = request
  checkMatch(parameters)
  const selection = selectionOf(served, parameters)
  const prefix = namespace ? `${served.prefix}${namespace}/` : served.prefix
  const limit = limitOf(parameters)
  const start = startOf(engine, prefix, parameters)
  if (selection.everything) {
    const page = readPage(engine, prefix, { ...start, limit })
    return finish(prefix, page, await served.views(page.items), limit !== undefined, true)
  }
  return await filtered(engine, request, selection, prefix, start, limit)
}

interface Start {
  readonly revision: number | undefined
  readonly after: string | undefined
}

async function filtered(
  engine: Engine,
  { served }: Request,
  selection: Selection,
  prefix: string,
  start: Start,
  limit: number | undefined,
): Promise<Listing> {
  const views: View[] = []
  let last: Stored | undefined
  let { after, revision } = start
  for (;;) {
    const page = readPage(engine, prefix, { revision, after, limit })
    revision = page.revision
    const seen = await served.views(page.items)
    for (let i = 0; i < seen.length; i++) {
      if (!selection.matches(seen[i]!.object)) continue
      views.push(seen[i]!)
      last = page.items[i]
      if (limit !== undefined && views.length === limit) {
        const more = i < seen.length - 1 || page.remaining > 0
        const token = more ? continueAfter(prefix, last!.key, revision) : ''
        return { views, revision, continue: token, remaining: undefined }
      }
    }
    if (page.remaining === 0) return { views, revision, continue: '', remaining: undefined }
    after = page.items.at(-1)!.key
  }
}

function finish(prefix: string, page: StoredPage, views: readonly View[], paged: boolean, counts: boolean): Listing {
  const more = paged && page.remaining > 0
  return {
    views,
    revision: page.revision,
    continue: more ? continueAfter(prefix, page.items.at(-1)!.key, page.revision) : '',
    remaining: more && counts ? page.remaining : undefined,
  }
}

/** A list at any revision is answered from memory at once, in one piece. */
function limitOf({ limit, resourceVersion }: ListParameters): number | undefined {
  return limit && limit > 0 && resourceVersion !== '0' ? limit : undefined
}

function startOf(engine: Engine, prefix: string, parameters: ListParameters): Start {
  const wanted = parseListRevision(parameters.resourceVersion)
  if (parameters.continue) {
    if (wanted !== 0) throw badRequest('specifying resource version is not allowed when using continue')
    const { revision, after } = decodeContinue(prefix, parameters.continue)
    return { revision: revision === INCONSISTENT ? undefined : revision, after }
  }
  checkNotInFuture(engine, wanted)
  const { resourceVersionMatch: match, limit } = parameters
  // Before resourceVersionMatch existed, a page at a revision was exact.
  const exact = match === 'Exact' || (!match && wanted > 0 && limit !== undefined && limit > 0)
  return { revision: exact ? wanted : undefined, after: undefined }
}

function readPage(engine: Engine, prefix: string, range: Start & { limit: number | undefined }): StoredPage {
  try {
    return engine.store.list(prefix, range)
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error
    throw expired(prefix, range.after)
  }
}

/** Returns 410 with a token that continues from the same position at the newest revision. */
function expired(prefix: string, after: string | undefined): StatusError {
  if (after === undefined) {
    return new StatusError(410, 'Expired', 'The resourceVersion for the provided list is too old.')
  }
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'
  return new StatusError(410, 'Expired', message, {
    metadata: { continue: continueAfter(prefix, after, INCONSISTENT) },
  })
}

const FIELD = 'resourceVersionMatch'

function checkMatch({
  resourceVersion,
  resourceVersionMatch: match,
  continue: token,
  sendInitialEvents,
}: ListParameters): void {
  const errors: FieldError[] = []
  if (match) {
    if (!resourceVersion)
      errors.push(fieldErrors.forbidden(FIELD, `${FIELD} is forbidden unless resourceVersion is provided`))
    if (token) errors.push(fieldErrors.forbidden(FIELD, `${FIELD} is forbidden when continue is provided`))
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(fieldErrors.notSupported(FIELD, match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && resourceVersion === '0') {
      errors.push(fieldErrors.forbidden(FIELD, `${FIELD} "exact" is forbidden for resourceVersion "0"`))
    }
  }
  if (sendInitialEvents !== undefined) {
    errors.push(fieldErrors.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
}
