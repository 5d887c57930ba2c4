export { type Outcome, readSpecs, runSpecs, type Spec } from './e2e.js'
