/**
 * A kubeconfig that asks the plugin of gcloud for a token whenever one is needed. A token itself expires after an hour, and
 * would have to be replaced with every observation.
 */
export function kubeconfigOf(cluster: {
  readonly name: string
  readonly endpoint: string
  readonly authority: string
}): string {
  const { name, endpoint, authority } = cluster
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${name}`,
    '  cluster:',
    `    server: https://${endpoint}`,
    `    certificate-authority-data: ${authority}`,
    'contexts:',
    `- name: ${name}`,
    '  context:',
    `    cluster: ${name}`,
    `    user: ${name}`,
    `current-context: ${name}`,
    'users:',
    `- name: ${name}`,
    '  user:',
    '    exec:',
    '      apiVersion: client.authentication.k8s.io/v1beta1',
    '      command: gke-gcloud-auth-plugin',
    '      interactiveMode: IfAvailable',
    '      provideClusterInfo: true',
    '      installHint: Install gke-gcloud-auth-plugin to log in to this cluster.',
    '',
  ].join('\n')
}
