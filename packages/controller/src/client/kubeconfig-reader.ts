// In a file of its own, so that the bundle gets this and not the whole client: of a dynamic import all is kept.
export { KubeConfig } from '@kubernetes/client-node'
