import type { Environment } from './environment.js'
import { type FunctionDeclaration, mergeFunctions } from './functions.js'
import { collectionsLibrary } from './library/collections.js'
import { standardLibrary } from './library/standard.js'
import { stringsLibrary } from './library/strings.js'

/** What Kubernetes 1.34 offers to expressions that are new: what 1.33 understood as well. */
const newFunctions = mergeFunctions(standardLibrary, stringsLibrary, collectionsLibrary)

/** What it offers to expressions that were accepted once. */
const storedFunctions = newFunctions

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
