import type { ReadableParameters } from '#lib/state/range.ts'

/** More cannot be set side by side. */
export const mostHosts = 16

/** The hosts that `hosts` of the URL names, in its order; the host of the page and its neighbour until somebody chooses. */
export const readHosts = (parameters: ReadableParameters, known: readonly number[], here: number): number[] => {
  const given = (parameters.get('hosts') ?? '')
    .split(',')
    .flatMap((text) => (/^\d{1,5}$/.test(text) ? [Number(text)] : []))
  const chosen = [...new Set(given)].filter((id) => known.includes(id)).slice(0, mostHosts)
  if (parameters.get('hosts') !== null) return chosen
  const usual = known.includes(here) ? [here, ...known.filter((id) => id !== here)] : known
  return usual.slice(0, 2)
}
