import { type HttpClient, listParameters, pathOf } from '@crosstie/controller'
import type { KubeObject, ListOptions, ObjectKey, ResourceType } from '@crosstie/kube'

/** The page size of lists. */
const PAGE = 500

/** Lists all objects of a kind by pages. */
export async function listAll<T extends KubeObject = KubeObject>(
  client: HttpClient,
  type: ResourceType,
  options: ListOptions = {},
): Promise<readonly T[]> {
  const items: T[] = []
  for (let next: string | undefined; ; ) {
    const list = await client.list<T>(type, { ...options, limit: PAGE, ...(next ? { continue: next } : {}) })
    items.push(...list.items)
    next = list.metadata.continue
    if (!next) return items
  }
}

/** Objects as a table with the columns of the server. */
export interface ServerTable {
  readonly columns: readonly { readonly name: string; readonly priority: number }[]
  readonly rows: readonly { readonly cells: readonly string[]; readonly namespace: string; readonly name: string }[]
}

interface TableAnswer {
  readonly kind: string
  readonly metadata?: { readonly continue?: string }
  readonly columnDefinitions: readonly { readonly name: string; readonly priority?: number }[]
  readonly rows: readonly {
    readonly cells: readonly unknown[]
    readonly object?: { readonly metadata?: { readonly name?: string; readonly namespace?: string } }
  }[]
}

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

/** Reads one object or all objects of a kind as a table. */
export async function readTable(
  client: HttpClient,
  type: ResourceType,
  { name, namespace, ...options }: Partial<ObjectKey> & ListOptions,
): Promise<ServerTable> {
  const { signal } = options
  const key = { ...(name ? { name } : {}), ...(namespace ? { namespace } : {}) }
  let table: ServerTable | undefined
  for (let next: string | undefined; ; ) {
    const page = { ...options, limit: PAGE, ...(next ? { continue: next } : {}) }
    const path = pathOf(type, key, name ? {} : listParameters(page))
    const answer = await client.read<TableAnswer>(path, { accept: TABLE, ...(signal ? { signal } : {}) })
    table = tableOf(answer, table)
    next = answer.metadata?.continue
    if (!next) return table
  }
}

function tableOf({ columnDefinitions, rows }: TableAnswer, before: ServerTable | undefined): ServerTable {
  const columns = columnDefinitions.map(({ name, priority = 0 }) => ({ name, priority }))
  const more = (rows ?? []).map(({ cells, object }) => ({
    cells: cells.map((cell) => (cell === null || cell === undefined ? '' : String(cell))),
    namespace: object?.metadata?.namespace ?? '',
    name: object?.metadata?.name ?? String(cells[0]),
  }))
  return { columns: before?.columns ?? columns, rows: [...(before?.rows ?? []), ...more] }
}
