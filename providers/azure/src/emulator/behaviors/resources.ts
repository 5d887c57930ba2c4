import { defined } from '../../values.js'
import { type Behavior, done } from '../behavior.js'

export const resources: Readonly<Record<string, Behavior>> = {
  'Microsoft.Resources/resourceGroups': {
    create: done(201, 'resource'),
    update: done(200, 'resource'),
    remove: {
      status: 202,
      polling: { result: '/subscriptions/{subscription}/operationresults/{operation}', retryAfter: 15, final: 'none' },
    },
    location: 'short',
    show: ({ body, phase }) =>
      defined({
        managedBy: body['managedBy'],
        properties: { provisioningState: phase === 'deleting' ? 'Deleting' : 'Succeeded' },
      }),
  },
}
