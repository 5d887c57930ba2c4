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

/** The libraries that Kubernetes 1.34 offers to new expressions: those that 1.33 has too. */
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

/** The functions that Kubernetes 1.34 offers to stored expressions. */
const storedFunctions = mergeFunctions(...libraries, listExtension)

type Base = Pick<Environment, 'functions' | 'lists' | 'structs'>

const base = (functions: ReadonlyMap<string, FunctionDeclaration>, lists: boolean): Base => ({
  functions,
  lists,
  structs: new Map(),
})

/**
 * The two environments of Kubernetes. A new expression may only use features that the previous release has too, so
 * that a downgrade is possible. A stored expression may use all features.
 */
export const baseEnvironments = { new: base(newFunctions, false), stored: base(storedFunctions, true) }
