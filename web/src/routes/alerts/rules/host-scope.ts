/** The hosts on which a rule, or thresholds of a rule, apply: patterns for name and group. */
export interface HostScope {
  matchHost: string
  matchGroup: string
}

interface ScopedHost {
  id: number
  name: string
  group: string | null
}

/** A choice of hosts. `value` identifies it in a select element. */
export interface ScopeOption {
  value: string
  label: string
}

/** Returns the value of a select element for a scope. */
export const toScopeValue = ({ matchHost, matchGroup }: HostScope): string => JSON.stringify([matchHost, matchGroup])

/** Returns the scope of a value of `toScopeValue`. */
export const parseScopeValue = (value: string): HostScope => {
  // Only `toScopeValue` creates these values.
  const [matchHost = '*', matchGroup = '*'] = JSON.parse(value) as string[]
  return { matchHost, matchGroup }
}

export const allHosts = toScopeValue({ matchHost: '*', matchGroup: '*' })

/** Returns a scope as text, for example `one` or `group cold`. */
export const formatScope = ({ matchHost, matchGroup }: HostScope): string => {
  if (matchGroup === '*') return matchHost === '*' ? 'all hosts' : matchHost
  return matchHost === '*' ? `group ${matchGroup}` : `${matchHost} in group ${matchGroup}`
}

/** Returns the choices: groups, configured hosts, and the current one if it is neither, such as a pattern of a file. */
export const listScopes = (
  hosts: readonly ScopedHost[],
  current: string,
): { groups: ScopeOption[]; hosts: ScopeOption[] } => {
  const configured = hosts.filter(({ id }) => id >= 0)
  const names = new Set(configured.flatMap(({ group }) => group ?? []))
  const groups = [...names].toSorted().map((matchGroup) => ({
    value: toScopeValue({ matchHost: '*', matchGroup }),
    label: matchGroup,
  }))
  const single = configured.map(({ name }) => ({
    value: toScopeValue({ matchHost: name, matchGroup: '*' }),
    label: name,
  }))
  const isKnown =
    current === '' || current === allHosts || [...groups, ...single].some(({ value }) => value === current)
  const unknown = isKnown ? [] : [{ value: current, label: formatScope(parseScopeValue(current)) }]
  return { groups, hosts: [...single, ...unknown] }
}
