export {
  type ApplyInput,
  type ApplyResult,
  FieldManager,
  type FieldManagerOptions,
  type TrackInput,
} from './field-manager.js'
export type { FieldSet } from './field-set.js'
export { applyJsonPatch } from './json-patch.js'
export { applyMergePatch } from './merge-patch.js'
export { applyStrategicMergePatch } from './strategic-merge-patch.js'
