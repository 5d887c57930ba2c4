// Built-in kinds and custom resources differ in one place: the members of `Conventions`. This check finds other code
// that branches on the two.
import { readFileSync } from 'node:fs'
import { globSync } from './glob.mjs'

const FOLDER = 'packages/apiserver/src'
/** The interface, its two implementations, and the controller that turns CRDs into kinds. */
const EXEMPT = /\/(definitions|builtin)\/|\/controllers\/crd-lifecycle\.ts$|\.test\.ts$/
/** A property of a definition that only custom resources have, or a comparison with one of the two implementations. */
const BRANCH =
  /\.crd\b|\bcrdUid\b|\b(?:custom|builtIn)Conventions\b|\bisCustom\b|[{,]\s*crd\s*[,}](?=[^;\n]*(?::\s*Definition|=\s*\w[\w.]*definition))/g

/** Returns the places in the text of one file, as line numbers. */
export function kindBranches(file, text) {
  if (EXEMPT.test(file)) return []
  return [...text.matchAll(BRANCH)].map(({ index }) => text.slice(0, index).split('\n').length)
}

/** Returns one message for each place that branches on the two implementations. */
export function kindBranchComplaints() {
  const advice = 'add a named member to definitions/conventions.ts instead of asking whether a kind is built in'
  return globSync([FOLDER], /\.ts$/).flatMap((file) =>
    kindBranches(file, readFileSync(file, 'utf8')).map((line) => `${file}:${line}: ${advice}`),
  )
}
