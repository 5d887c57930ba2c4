/** Variables of the control plane that a provider may see: how to reach the network and which certificates to trust. */
const passed = [
  'PATH',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'TZ',
] as const

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The environment of a provider process. Credentials of the control plane itself do not pass: a provider gets its own
 * through its configuration, or through variables that its ProviderConfig names.
 */
export function providerEnvironment(
  surroundings: Environment,
  folder: string,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const kept = passed.flatMap((name) => (surroundings[name] === undefined ? [] : [[name, surroundings[name]]]))
  return {
    ...Object.fromEntries(kept),
    HOME: folder,
    TMPDIR: folder,
    PLUGIN_UNIX_SOCKET_DIR: folder,
    // Provider logs go to stderr as JSON; we filter them.
    TF_LOG: 'WARN',
    CHECKPOINT_DISABLE: '1',
    ...own,
  }
}
