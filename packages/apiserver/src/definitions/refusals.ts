import { StatusError } from '@crosstie/kube'

/** 404 for a URL that names a resource or subresource that is not served. */
export function resourceNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', { details: {} })
}

/** 405 for a method that a URL does not have. */
export function methodUnknown(): StatusError {
  const message = 'the server does not allow this method on the requested resource'
  return new StatusError(405, 'MethodNotAllowed', message, { details: {} })
}
