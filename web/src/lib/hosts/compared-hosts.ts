import type { ReadableParameters } from '#lib/state/range.ts'

/** Maximum number of hosts in a comparison. */
export const maxHostsToCompare = 16

/** Returns the host ids in the `hosts` parameter, in that order; without it, the current host and one other host. */
export const readComparedHosts = (parameters: ReadableParameters, known: readonly number[], here: number): number[] => {
  const requested = (parameters.get('hosts') ?? '')
    .split(',')
    .flatMap((text) => (/^\d{1,5}$/.test(text) ? [Number(text)] : []))
  const chosen = [...new Set(requested)].filter((id) => known.includes(id)).slice(0, maxHostsToCompare)
  if (parameters.get('hosts') !== null) return chosen
  const defaults = known.includes(here) ? [here, ...known.filter((id) => id !== here)] : known
  return defaults.slice(0, 2)
}
