import { ConnectionError, NoAccessError } from '@crosstie/controller'
import { findInChain, StatusError } from '@crosstie/kube'

/** Reports whether the server could not be reached. */
export const isUnreachable = (error: unknown): boolean =>
  findInChain(error, ConnectionError) !== undefined || findInChain(error, NoAccessError) !== undefined

/** Returns the next step for an error, or undefined if the error contains it. */
export function adviceFor(error: unknown): string | undefined {
  if (findInChain(error, NoAccessError)) {
    return "Start a control plane with 'crosstie up', or name one with --kubeconfig FILE."
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
  if (code === 401) return 'The server rejects the credentials: use another kubeconfig, or renew the credentials.'
  if (code === 403)
    return "Ask the administrator of the server for a role that allows it; 'crosstie get clusterroles' lists them."
  if (reason === 'Conflict' && /conflict/.test(message) && /Apply failed/.test(message)) {
    return '--force takes the fields over; or remove them from the manifest.'
  }
  if (reason === 'Conflict') return 'The object was changed concurrently: run the command again.'
  if (code === 429 || code === 503 || code === 504) return 'The server is busy or just starting: try again in a moment.'
  return undefined
}
