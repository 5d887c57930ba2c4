import { type EKSClient, TagResourceCommand, UntagResourceCommand } from '@aws-sdk/client-eks'
import { tagChanges } from '../tags.js'

/** Sets the changed tags, and removes tags that the spec no longer contains. Tags of others stay. */
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
