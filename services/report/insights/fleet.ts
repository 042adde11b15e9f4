import { ServiceError } from '#proto/errors.ts'
import type { Fleet, HostFacts } from './detector.ts'
import type { Looking } from './look-at.ts'

/** What is known about a host and the others of the list, without asking the others. */
export const readFleet = async ({ query, call, hostKey }: Looking): Promise<Fleet> => {
  const [hosts, states] = await Promise.all([query.hosts({}, call), query.hostStates({}, call)])
  const versions = new Map(states.map(({ key, version }) => [key, version]))
  const facts = hosts.map(({ key, name, group }) => ({
    key,
    name,
    group,
    version: versions.get(key) ?? null,
    clockSkewMs: null,
  }))
  const listed = facts.find(({ key }) => key === hostKey)
  const own: HostFacts = listed ?? { name: hostKey, group: null, version: null, clockSkewMs: null }
  return {
    self: { ...own, ...(await now({ query, call, hostKey })) },
    peers: facts.filter(({ key }) => key !== hostKey),
  }
}

/** What the host says of itself now; nothing where it does not, or the caller may not know. */
const now = async ({ query, call, hostKey }: Omit<Looking, 'nowMs'>): Promise<Partial<HostFacts>> => {
  try {
    const { version, clockSkewMs } = await query.hostStatus({ hostKey }, call)
    return { version, clockSkewMs }
  } catch (error) {
    if (error instanceof ServiceError) return {}
    throw error
  }
}
