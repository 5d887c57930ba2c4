import {
  CreateRouteCommand,
  type CreateRouteRequest,
  CreateRouteRequest$,
  DeleteRouteCommand,
  type EC2Client,
  ReplaceRouteCommand,
  type Route,
} from '@aws-sdk/client-ec2'
import { type Infer, s } from '@crosstie/resources/provider'
import { capitalized, toApi } from '../shapes.js'

const text = (doc: string) => s.optional(s.string({ doc }))

const destinations = {
  destinationCidrBlock: text('Range of IPv4 addresses, such as 0.0.0.0/0.'),
  destinationIpv6CidrBlock: text('Range of IPv6 addresses, such as ::/0.'),
  destinationPrefixListId: text('List of ranges.'),
}

const targets = {
  gatewayId: text('Internet gateway or virtual private gateway.'),
  natGatewayId: text('NAT gateway.'),
  egressOnlyInternetGatewayId: text('Gateway that only lets IPv6 out.'),
  transitGatewayId: text('Transit gateway.'),
  vpcPeeringConnectionId: text('Peering connection with another VPC.'),
  vpcEndpointId: text('Gateway load balancer endpoint.'),
  networkInterfaceId: text('Network interface.'),
  instanceId: text('NAT instance.'),
  localGatewayId: text('Local gateway of an Outpost.'),
  carrierGatewayId: text('Carrier gateway of a Wavelength zone.'),
  coreNetworkArn: text('Core network of Cloud WAN.'),
  odbNetworkArn: text('Network of Oracle Database@AWS.'),
}

/** The fields of a route. */
export const route = s.object({ ...destinations, ...targets })

/** A route as a spec states it. */
export type WantedRoute = Infer<typeof route>
type Name = keyof WantedRoute

const destinationNames = Object.keys(destinations) as Name[]
const targetNames = Object.keys(targets) as Name[]

/** Returns the routes of a table as a spec states them, without local and propagated ones. */
export function routesOf(told: readonly Route[] | undefined): readonly WantedRoute[] {
  return (told ?? []).filter(isMade).map((each) => {
    const fields = [...destinationNames, ...targetNames].map((name) => [name, each[capitalized(name) as keyof Route]])
    const known = Object.fromEntries(fields.filter(([, value]) => value)) as Record<Name, string>
    return withoutRepetition(known)
  })
}

const isMade = ({ Origin, GatewayId }: Route) =>
  GatewayId !== 'local' && Origin !== 'CreateRouteTable' && Origin !== 'EnableVgwRoutePropagation'

/** Removes redundant targets. AWS also reports the interface of an instance, and reports an endpoint as a gateway. */
function withoutRepetition({ networkInterfaceId, ...rest }: Record<Name, string>): WantedRoute {
  if (rest.gatewayId?.startsWith('vpce-')) {
    const { gatewayId, ...others } = rest
    return { ...others, vpcEndpointId: gatewayId }
  }
  return rest.instanceId || !networkInterfaceId ? rest : { ...rest, networkInterfaceId }
}

/** Adds the internet gateway of the table to routes without a target. Throws if the table has no gateway. */
export function complete(routes: readonly WantedRoute[], gatewayId: string | undefined): readonly WantedRoute[] {
  return routes.map((each) => {
    if (targetNames.some((name) => each[name])) return each
    if (!gatewayId) {
      throw new Error(
        `the route to ${destinationOf(each)} has no target: set one, or spec.forProvider.internetGatewayId`,
      )
    }
    return { ...each, gatewayId }
  })
}

/**
 * Creates, replaces and deletes routes to match the spec. A route is replaced in place, so its destination stays
 * reachable.
 */
export async function setRoutes(
  client: EC2Client,
  RouteTableId: string,
  wanted: readonly WantedRoute[],
  held: readonly WantedRoute[],
  abortSignal: AbortSignal,
): Promise<void> {
  const is = new Map(held.map((each) => [destinationOf(each), each]))
  for (const each of wanted) {
    const old = is.get(destinationOf(each))
    is.delete(destinationOf(each))
    const request = { RouteTableId, ...inputsOf(each) }
    if (!old) await client.send(new CreateRouteCommand(request), { abortSignal })
    else if (targetNames.some((name) => old[name] !== each[name])) {
      await client.send(new ReplaceRouteCommand(request), { abortSignal })
    }
  }
  for (const each of is.values()) {
    const destination = Object.fromEntries(destinationNames.map((name) => [name, each[name]])) as WantedRoute
    await client.send(new DeleteRouteCommand({ RouteTableId, ...inputsOf(destination) }), { abortSignal })
  }
}

const destinationOf = (each: WantedRoute): string => destinationNames.map((name) => each[name] ?? '').join('')

const inputsOf = (each: WantedRoute) => toApi<Partial<CreateRouteRequest>>(CreateRouteRequest$, each)
