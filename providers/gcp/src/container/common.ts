import type { GoogleClient } from '../client/client.js'

export const clusterPath = ({ project }: GoogleClient, location: unknown, cluster: unknown): string =>
  `projects/${project}/locations/${String(location)}/clusters/${String(cluster)}`

/** `1.30` and `latest` stand for any version that Google chooses for them. */
export function sameVersion(desired: string, observed: string): boolean {
  if (desired === 'latest' || desired === '-' || desired === observed) return true
  return observed.startsWith(`${desired}.`) || observed.startsWith(`${desired}-`)
}
