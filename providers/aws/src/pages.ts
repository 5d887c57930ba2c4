/** Reads all pages of a call. The paginators of the SDK handle the tokens of each service. */
export async function collect<P, T>(
  pages: AsyncIterable<P>,
  itemsOf: (page: P) => readonly T[] | undefined,
): Promise<readonly T[]> {
  const items: T[] = []
  for await (const page of pages) items.push(...(itemsOf(page) ?? []))
  return items
}
