import type { ReadableParameters } from '#lib/state/range.ts'

/** Maximum number of hosts in a comparison. */
export const maxHosts = 16

/** Returns the hosts in the `hosts` parameter, in its order; without it, the host of the page and the next one. */
export const readHosts = (parameters: ReadableParameters, known: readonly number[], here: number): number[] => {
  const requested = (parameters.get('hosts') ?? '')
    .split(',')
    .flatMap((text) => (/^\d{1,5}$/.test(text) ? [Number(text)] : []))
  const chosen = [...new Set(requested)].filter((id) => known.includes(id)).slice(0, maxHosts)
  if (parameters.get('hosts') !== null) return chosen
  const defaults = known.includes(here) ? [here, ...known.filter((id) => id !== here)] : known
  return defaults.slice(0, 2)
}
