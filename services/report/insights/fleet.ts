import { ServiceError } from '#proto/errors.ts'
import type { Fleet, HostFacts } from './detector.ts'
import { type HostFigures, readFigures } from './facts.ts'
import type { Looking } from './looking.ts'

/** Others of the same group that a host is compared with, at most. */
const mostCompared = 32

/** What is known about a host and the others of the list, without asking the others: they left their figures when they were looked at. */
export const readFleet = async (looking: Looking, figures: HostFigures): Promise<Fleet> => {
  const { query, call, hostKey, store } = looking
  const [hosts, states] = await Promise.all([query.hosts({}, call), query.hostStates({}, call)])
  const versions = new Map(states.map(({ key, version }) => [key, version]))
  const facts = hosts.map(({ key, name, group }) => ({
    key,
    name,
    group,
    version: versions.get(key) ?? null,
    clockSkewMs: null,
    figures: null,
  }))
  const listed = facts.find(({ key }) => key === hostKey)
  const own: HostFacts = listed ?? { name: hostKey, group: null, version: null, clockSkewMs: null, figures: null }
  const others = facts.filter(({ key }) => key !== hostKey)
  const compared = others.filter(({ group }) => group === own.group).slice(0, mostCompared)
  const left = await Promise.all(compared.map(async ({ key }) => [key, await readFigures(store, key)] as const))
  const figuresByKey = new Map(left)
  return {
    self: { ...own, figures, ...(await now(looking)) },
    peers: others.map((peer) => ({ ...peer, figures: figuresByKey.get(peer.key) ?? null })),
  }
}

/** What the host says of itself now; nothing where it does not, or the caller may not know. */
const now = async ({ query, call, hostKey }: Looking): Promise<Partial<HostFacts>> => {
  try {
    const { version, clockSkewMs } = await query.hostStatus({ hostKey }, call)
    return { version, clockSkewMs }
  } catch (error) {
    if (error instanceof ServiceError) return {}
    throw error
  }
}
