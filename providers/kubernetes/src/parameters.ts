import { type Infer, s } from '@crosstie/resources/provider'
import { readinessPolicies } from './readiness.js'

const named = {
  apiVersion: s.string({ doc: 'Its apiVersion, such as v1.' }),
  kind: s.string({ doc: 'Its kind.' }),
  name: s.string({ doc: 'Its name.' }),
  namespace: s.optional(s.string({ doc: 'Its namespace, if its kind has one.' })),
}

const fieldPath = s.string({
  doc: 'Where the value is: a path such as data.token, or a JSONPath such as {.spec.ports[0].nodePort}. Values of Secrets are decoded.',
})

const readiness = s.object(
  {
    policy: s.optional(
      s.string({
        doc: 'SuccessfulCreate (the default): once it is there. DeriveFromObject: by its condition Ready. ByCondition: by the one that conditionType names. AllTrue: when all its conditions are true. DeriveFromCelQuery: by celQuery.',
        enum: readinessPolicies,
      }),
    ),
    conditionType: s.optional(s.string({ doc: 'The condition that ByCondition goes by, such as Available.' })),
    celQuery: s.optional(
      s.string({ doc: 'A CEL expression over `object`, such as object.status.phase == "Running".', maxLength: 4096 }),
    ),
  },
  { doc: 'When the object counts as ready.' },
)

const connectionDetails = s.list(
  s.object({
    apiVersion: s.optional(
      s.string({ doc: 'apiVersion of the object to read from. Without all three: from the manifest’s own.' }),
    ),
    kind: s.optional(s.string({ doc: 'Its kind.' })),
    name: s.optional(s.string({ doc: 'Its name.' })),
    namespace: s.optional(s.string({ doc: 'Its namespace.' })),
    fieldPath,
    toConnectionSecretKey: s.string({ doc: 'The key of the connection Secret that the value goes to.' }),
  }),
  { doc: 'What is written to the connection Secret, from objects of the same cluster.', maxItems: 64 },
)

const references = s.list(
  s.object({
    dependsOn: s.optional(s.object(named, { doc: 'An object that must be there first.' })),
    patchesFrom: s.optional(s.object({ ...named, fieldPath }, { doc: 'An object that a value is taken from.' })),
    toFieldPath: s.optional(s.string({ doc: 'Where in the manifest the value goes; absent: where it came from.' })),
  }),
  {
    doc: 'Objects of the API that this Object is kept in, which must be there before anything is done. Their changes are followed.',
    maxItems: 64,
  },
)

/** The fields of forProvider. */
export const parameters = s.object({
  manifest: s.document({
    doc: 'The object. Fields that it does not name are left to others. Its name may be left out: then it is the external name.',
  }),
  readiness: s.optional(readiness),
  connectionDetails: s.optional(connectionDetails),
  references: s.optional(references),
  onConflict: s.optional(
    s.string({
      doc: 'When another field manager applies the same fields. Report (the default) changes nothing and says so; TakeOver takes them.',
      enum: ['Report', 'TakeOver'],
    }),
  ),
  deletionPropagation: s.optional(
    s.string({
      doc: 'What becomes of what the object owns when it is deleted. Background is the default.',
      enum: ['Background', 'Foreground', 'Orphan'],
    }),
  ),
})

/** The type of forProvider. */
export type Parameters = Infer<typeof parameters>

/** The observation is empty: the status contains the manifest, with hidden values of Secrets. */
export const observation = s.object({})
