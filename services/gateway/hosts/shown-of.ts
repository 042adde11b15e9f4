import type { NameHost } from './watched-hosts.ts'

/** What may be about a host, with that as lists name it. What is about hosts that the caller must not hear of is left out. */
export const shownOf = <T extends { hostKey: string | null }>(found: readonly T[], nameOf: NameHost) =>
  found.flatMap(({ hostKey, ...shown }) => {
    const named = hostKey === null ? nobody : nameOf(hostKey)
    return named ? [{ ...shown, ...named }] : []
  })

const nobody = { hostId: null, host: null }

/** The host of what was found already; nobody's where the caller must not hear of it. */
export const namedOr = (hostKey: string | null, nameOf: NameHost) =>
  (hostKey === null ? nobody : nameOf(hostKey)) ?? nobody
