import { CreateTagsCommand, DeleteTagsCommand, EC2Client, type Filter, type ResourceType } from '@aws-sdk/client-ec2'
import { connectTo } from '../clients.js'
import { type Tags, tagChanges, tagList } from '../tags.js'

/** Connects to EC2 in the region of the object. A separate constant, because TypeScript loses its type otherwise. */
export const ec2 = connectTo(EC2Client)

/** Returns the tags for a create call of EC2. */
export const tagSpecification = (type: ResourceType, tags: Tags) => [{ ResourceType: type, Tags: tagList(tags) }]

/** The maximum number of items per page. */
export const PAGE = 1000

/**
 * Returns filters by id or, while it is unknown, by tags. An unknown id in a filter is not an error: the result is
 * empty.
 */
export function filtersFor(idFilter: string, externalName: string, tags: Tags | undefined): Filter[] | undefined {
  if (externalName !== '') return [{ Name: idFilter, Values: [externalName] }]
  return tags ? filtersByTags(tags).Filters : undefined
}

/** Returns filters for resources with these tags. Without tags, all resources match. */
export function filtersByTags(tags: Tags | undefined): { Filters?: Filter[] } {
  const Filters = Object.entries(tags ?? {}).map(([key, value]) => ({ Name: `tag:${key}`, Values: [value] }))
  return Filters.length > 0 ? { Filters } : {}
}

/** Sets the changed tags, and removes tags that the spec no longer contains. Tags of others stay. */
export async function updateTags(
  client: EC2Client,
  id: string,
  update: Parameters<typeof tagChanges>[0],
  abortSignal: AbortSignal,
): Promise<void> {
  const changes = tagChanges(update)
  if (!changes) return
  const Resources = [id]
  if (Object.keys(changes.set).length > 0) {
    await client.send(new CreateTagsCommand({ Resources, Tags: tagList(changes.set) }), { abortSignal })
  }
  if (changes.unset.length > 0) {
    const Tags = changes.unset.map((Key) => ({ Key }))
    await client.send(new DeleteTagsCommand({ Resources, Tags }), { abortSignal })
  }
}
