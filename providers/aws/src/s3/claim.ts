import { bucket as bucketClaim, defineBinding } from '@crosstie/resources/provider'
import { bucket } from './bucket.js'

const acls: Readonly<Record<string, string>> = {
  Private: 'private',
  PublicRead: 'public-read',
  PublicReadWrite: 'public-read-write',
  AuthenticatedRead: 'authenticated-read',
}

/** Binds a claim for a bucket to S3. The class defines location and settings, the claim defines the access. */
export const bucketBinding = defineBinding({
  claim: bucketClaim,
  managed: bucket,
  externalName: ({ asked }) => asked['name'] as string | undefined,
  configure({ asked, forProvider }) {
    if (asked['localPermission'] !== undefined) {
      throw new Error(
        'spec.localPermission cannot be met by S3: who may use the bucket is said by IAM. Leave it out, and allow the ' +
          'role of the application',
      )
    }
    const predefined = asked['predefinedACL']
    if (predefined === undefined) return forProvider
    const acl = acls[String(predefined)]
    const { acl: given } = forProvider as { acl?: string }
    if (given !== undefined && given !== acl) {
      throw new Error(`spec.predefinedACL ${predefined} is not what the class offers, which is ${given}`)
    }
    return { ...forProvider, acl }
  },
})
