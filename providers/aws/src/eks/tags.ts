import { type EKSClient, TagResourceCommand, UntagResourceCommand } from '@aws-sdk/client-eks'
import { tagChanges } from '../tags.js'

/** Sets the tags that changed, and takes out those that were ours and are no longer wanted. */
export async function updateTags(
  client: EKSClient,
  resourceArn: string | undefined,
  update: Parameters<typeof tagChanges>[0],
  abortSignal: AbortSignal,
): Promise<void> {
  const changes = tagChanges(update)
  if (!changes) return
  if (Object.keys(changes.set).length > 0) {
    await client.send(new TagResourceCommand({ resourceArn, tags: changes.set }), { abortSignal })
  }
  if (changes.unset.length > 0) {
    await client.send(new UntagResourceCommand({ resourceArn, tagKeys: [...changes.unset] }), { abortSignal })
  }
}
