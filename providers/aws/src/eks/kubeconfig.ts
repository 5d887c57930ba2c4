/**
 * Returns a kubeconfig that gets tokens from the AWS CLI. A token itself would expire after 15 minutes and would
 * have to be written again by every observation.
 */
export function kubeconfigOf(cluster: {
  readonly name: string
  readonly region: string
  readonly endpoint: string
  readonly authority: string
}): string {
  const { name, region, endpoint, authority } = cluster
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${name}`,
    '  cluster:',
    `    server: ${endpoint}`,
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
    '      command: aws',
    `      args: [--region, ${region}, eks, get-token, --cluster-name, ${JSON.stringify(name)}, --output, json]`,
    '      interactiveMode: Never',
    '      provideClusterInfo: false',
    '      installHint: The AWS CLI is needed to log in to this cluster.',
    '',
  ].join('\n')
}
