/** Reads all pages of a paginated call, whatever the service calls its tokens: the SDK's paginators know. */
export async function collect<P, T>(
  pages: AsyncIterable<P>,
  itemsOf: (page: P) => readonly T[] | undefined,
): Promise<readonly T[]> {
  const items: T[] = []
  for await (const page of pages) items.push(...(itemsOf(page) ?? []))
  return items
}
