import { type AuthorizationChecker, authorizerInput, requestResourceInput } from '@crosstie/cel'
import type { ResourceType } from '@crosstie/kube'
import type { Authorizer } from '../../access/authorize.js'
import { serviceAccountGroups, serviceAccountUser } from '../../access/user.js'
import { type AdmissionAttributes, admissionNamespace } from './attributes.js'
import { admissionRequest } from './review.js'

/** The variables of expressions, by name. */
export type Bindings = Readonly<Record<string, unknown>>

/**
 * Returns the variables of a request except parameters and namespace. They are computed when an expression reads
 * them.
 */
export function bindRequest(attributes: AdmissionAttributes, address: ResourceType, authorizer: Authorizer): Bindings {
  const check = checkerFor(attributes, authorizer)
  return {
    object: attributes.object ?? null,
    oldObject: attributes.oldObject ?? null,
    get request() {
      return { ...admissionRequest(attributes, address, ''), options: attributes.options ?? null }
    },
    get authorizer() {
      return authorizerInput(check)
    },
    get 'authorizer.requestResource'() {
      const { type, subresource, name } = attributes
      const narrowed = { subresource, namespace: admissionNamespace(attributes), name }
      return requestResourceInput(check, { group: type.group, resource: type.resource, ...narrowed })
    },
  }
}

/** Authorizes for the user of the request, or for the service account that the expression names. */
function checkerFor({ user }: AdmissionAttributes, authorizer: Authorizer): AuthorizationChecker {
  return ({ serviceAccount, fieldSelector: _f, labelSelector: _l, ...question }) => {
    const who = serviceAccount
      ? {
          name: serviceAccountUser(serviceAccount.namespace, serviceAccount.name),
          groups: [...serviceAccountGroups(serviceAccount.namespace), 'system:authenticated'],
        }
      : user
    return authorizer.authorize({ ...question, user: who })
  }
}
