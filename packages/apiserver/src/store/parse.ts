// The store's own JSON is read as any other.
export { parseJson } from '@crosstie/kube'
