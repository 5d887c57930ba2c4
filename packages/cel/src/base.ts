import type { Environment } from './environment.js'
import { type FunctionDeclaration, mergeFunctions } from './functions.js'
import { authorizerLibrary } from './library/authorizer.js'
import { collectionsLibrary } from './library/collections.js'
import { listExtension } from './library/list-extension.js'
import { namedFormatsLibrary } from './library/named-formats.js'
import { networkLibrary } from './library/network.js'
import { quantityLibrary } from './library/quantity.js'
import { semverLibrary } from './library/semver.js'
import { standardLibrary } from './library/standard.js'
import { stringsLibrary } from './library/strings.js'
import { urlLibrary } from './library/url.js'

/** What Kubernetes 1.34 offers to expressions that are new: what 1.33 understood as well. */
const libraries = [
  standardLibrary,
  stringsLibrary,
  collectionsLibrary,
  urlLibrary,
  networkLibrary,
  quantityLibrary,
  semverLibrary,
  namedFormatsLibrary,
  authorizerLibrary,
]
const newFunctions = mergeFunctions(...libraries)

/** What it offers to expressions that were accepted once. */
const storedFunctions = mergeFunctions(...libraries, listExtension)

type Base = Pick<Environment, 'functions' | 'lists' | 'structs'>

const base = (functions: ReadonlyMap<string, FunctionDeclaration>, lists: boolean): Base => ({
  functions,
  lists,
  structs: new Map(),
})

/**
 * The two environments of Kubernetes. A new expression may only use what the previous release knows too, so that a
 * downgrade stays possible; a stored one may use everything.
 */
export const baseEnvironments = { new: base(newFunctions, false), stored: base(storedFunctions, true) }
