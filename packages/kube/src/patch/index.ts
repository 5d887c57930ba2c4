export {
  type ApplyInput,
  type ApplyResult,
  FieldManager,
  type FieldManagerOptions,
  type TrackInput,
} from './field-manager.js'
export type { FieldSet } from './field-set.js'
export { goText } from './gotext.js'
export { applyJsonPatch } from './json-patch.js'
export { LAST_APPLIED } from './last-applied.js'
export { applyMergePatch } from './merge-patch.js'
export { managedFieldsFromScale, managedFieldsOfScale, type ReplicasPaths, scaleFieldManager } from './scale.js'
export { applyStrategicMergePatch } from './strategic-merge-patch.js'
export { withoutNewTimes } from './times.js'
