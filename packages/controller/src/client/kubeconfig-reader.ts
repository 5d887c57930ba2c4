// A separate file lets the bundler drop the rest of the client library: a dynamic import keeps every export.
export { KubeConfig } from '@kubernetes/client-node'
