import type { FleetEntry } from '#proto/http/fleet.ts'

/** Hosts of one server version. */
export interface VersionShare {
  version: string
  hosts: number
  /** The version of most hosts: the others drift from it. */
  isUsual: boolean
}

/** The versions in use, that of most hosts first; hosts that did not tell theirs are left out. */
export const versionsOf = (hosts: readonly FleetEntry[]): VersionShare[] => {
  const known = hosts.flatMap(({ version }) => version ?? [])
  return [...Map.groupBy(known, (version) => version)]
    .map(([version, members]) => ({ version, hosts: members.length }))
    .toSorted(
      (one, other) => other.hosts - one.hosts || one.version.localeCompare(other.version, 'en', { numeric: true }),
    )
    .map((share, index) => ({ ...share, isUsual: index === 0 }))
}
