import type { FleetHostView } from '#proto/http/fleet.ts'

/** A server version with the number of its hosts. */
export interface VersionShare {
  version: string
  hosts: number
  /** Whether this is the most common version. */
  isMostCommon: boolean
}

/** Returns the versions in use, most common first; hosts with an unknown version are left out. */
export const countVersions = (hosts: readonly FleetHostView[]): VersionShare[] => {
  const known = hosts.flatMap(({ version }) => version ?? [])
  return [...Map.groupBy(known, (version) => version)]
    .map(([version, members]) => ({ version, hosts: members.length }))
    .toSorted(
      (one, other) => other.hosts - one.hosts || one.version.localeCompare(other.version, 'en', { numeric: true }),
    )
    .map((share, index) => ({ ...share, isMostCommon: index === 0 }))
}
