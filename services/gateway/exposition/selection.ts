import { ServiceError } from '#proto/errors.ts'
import type { MetricsQuery } from '#proto/http/exposition.ts'
import type { Host } from '#proto/query.ts'
import type { HostList } from '../hosts/host-list.ts'

/** Same for all questions that have the same answer. */
export const selectionKey = ({ 'host[]': hosts, group, 'match[]': match }: MetricsQuery): string =>
  JSON.stringify([sorted(hosts), group, sorted(match)])

const sorted = <T>(values: readonly T[] | undefined): T[] | undefined => values && [...new Set(values)].toSorted()

/** The hosts that are asked for; throws `not-found` naming what there is none of. */
export const selectedHosts = async (
  list: HostList,
  { 'host[]': wanted, group }: MetricsQuery,
): Promise<readonly Host[]> => {
  const named = wanted ? await Promise.all([...new Set(wanted)].map((id) => list.find(id, 'host[]'))) : undefined
  const all = await list.all()
  if (group !== undefined && all.every((host) => host.group !== group)) throw noSuchGroup(group, all)
  return (named ?? all).filter((host) => group === undefined || host.group === group)
}

/** Groups that a refusal names. */
const namedGroups = 20

const noSuchGroup = (group: string, hosts: readonly Host[]): ServiceError => {
  const groups = [...new Set(hosts.flatMap((host) => host.group ?? []))].slice(0, namedGroups)
  const known = groups.length === 0 ? 'no host has one' : `there are ${groups.join(', ')}`
  return new ServiceError('not-found', `no such group: ${group}; ${known}`, { details: { parameter: 'group', groups } })
}
