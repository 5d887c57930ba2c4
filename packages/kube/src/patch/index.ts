export { applyJsonPatch } from './json-patch.js'
export { applyMergePatch } from './merge-patch.js'
export { applyStrategicMergePatch } from './strategic-merge-patch.js'
