import {
  AddTagsToResourceCommand,
  ListTagsForResourceCommand,
  type RDSClient,
  RemoveTagsFromResourceCommand,
} from '@aws-sdk/client-rds'
import { type Tags, tagChanges, tagList, tagsOf } from '../tags.js'

export async function readTags(client: RDSClient, arn: string | undefined, abortSignal: AbortSignal): Promise<Tags> {
  const { TagList } = await client.send(new ListTagsForResourceCommand({ ResourceName: arn }), { abortSignal })
  return tagsOf(TagList)
}

/** Sets the tags that changed, and takes out those that were ours and are no longer wanted. */
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
