/**
 * A kubeconfig that asks the AWS CLI for a token whenever one is needed. A token
 * itself would be of no use after a quarter of an hour, and would have to be
 * written anew at every look.
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
