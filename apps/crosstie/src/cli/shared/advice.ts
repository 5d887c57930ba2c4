import { ConnectionError, NoAccessError } from '@crosstie/controller'
import { findInChain, StatusError } from '@crosstie/kube'

/** Could the server not be reached at all? */
export const isUnreachable = (error: unknown): boolean =>
  findInChain(error, ConnectionError) !== undefined || findInChain(error, NoAccessError) !== undefined

/** What somebody who sees the error can do next; undefined when the error says it all. */
export function adviceFor(error: unknown): string | undefined {
  if (findInChain(error, NoAccessError)) {
    return "Start a control plane with 'crosstie up', or say which one is meant with --kubeconfig FILE."
  }
  const connection = findInChain(error, ConnectionError)
  if (connection) return adviceForConnection(connection)
  const status = findInChain(error, StatusError)
  return status && adviceForStatus(status)
}

function adviceForConnection(error: ConnectionError): string {
  if (/certificate|self.signed|CERT_/i.test(error.message)) {
    return 'The kubeconfig does not belong to this server: a new data directory has new certificates. Use the kubeconfig that was written last.'
  }
  return "Is it running? 'crosstie up' starts one here; --kubeconfig FILE or $KUBECONFIG names another."
}

function adviceForStatus({ code, reason, message }: StatusError): string | undefined {
  if (code === 401) return 'The server does not know who you are: use another kubeconfig, or renew its credentials.'
  if (code === 403)
    return "Ask whoever runs the server for a role that allows it; 'crosstie get clusterroles' lists them."
  if (reason === 'Conflict' && /conflict/.test(message) && /Apply failed/.test(message)) {
    return '--force takes the fields over; or leave them out of the manifest and to whom they belong.'
  }
  if (reason === 'Conflict') return 'Somebody changed it in between: run the command again.'
  if (code === 429 || code === 503 || code === 504) return 'The server is busy or just starting: try again in a moment.'
  return undefined
}
