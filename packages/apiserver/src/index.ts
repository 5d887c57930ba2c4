export { type KubeconfigContent, writeKubeconfig } from './access/kubeconfig.js'
export type { UserInfo } from './access/user.js'
export { Server, type ServerOptions, startServer } from './server.js'
export { restoreBackup } from './store/index.js'
