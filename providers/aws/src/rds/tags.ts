import {
  AddTagsToResourceCommand,
  ListTagsForResourceCommand,
  type RDSClient,
  RemoveTagsFromResourceCommand,
} from '@aws-sdk/client-rds'
import { type Tags, tagChanges, tagList, tagsOf } from '../tags.js'

/** Returns the tags of a resource by its ARN. */
export async function readTags(client: RDSClient, arn: string | undefined, abortSignal: AbortSignal): Promise<Tags> {
  const { TagList } = await client.send(new ListTagsForResourceCommand({ ResourceName: arn }), { abortSignal })
  return tagsOf(TagList)
}

/** Sets the changed tags, and removes tags that the spec no longer contains. Tags of others stay. */
export async function updateTags(
  client: RDSClient,
  update: Parameters<typeof tagChanges>[0] & { readonly signal: AbortSignal },
  arn: () => Promise<string | undefined>,
): Promise<void> {
  const changes = tagChanges(update)
  if (!changes) return
  const [ResourceName, abortSignal] = [await arn(), update.signal]
  if (Object.keys(changes.set).length > 0) {
    await client.send(new AddTagsToResourceCommand({ ResourceName, Tags: tagList(changes.set) }), { abortSignal })
  }
  if (changes.unset.length > 0) {
    await client.send(new RemoveTagsFromResourceCommand({ ResourceName, TagKeys: [...changes.unset] }), { abortSignal })
  }
}
