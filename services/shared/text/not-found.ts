import { distance } from 'fastest-levenshtein'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'

const maxNearestNames = 5

/**
 * Returns a `not-found` error for an unknown name. The details list the five nearest names; the message has the best
 * match.
 */
export const createNotFoundError = (
  kind: string,
  name: string,
  known: Iterable<string>,
  parameter = 'name',
): ServiceError => {
  const nearest = findNearestNames(name, known)
  const [best] = nearest
  const isClose = best !== undefined && computeDistance(best, name) <= best.length / 2
  return new ServiceError('not-found', `unknown ${kind} "${name}"${isClose ? `; did you mean "${best}"?` : ''}`, {
    details: { parameter, nearest },
  })
}

/** Returns the five nearest names, nearest first. */
export const findNearestNames = (name: string, known: Iterable<string>): string[] =>
  [...known].toSorted((a, b) => computeRank(a, name) - computeRank(b, name)).slice(0, maxNearestNames)

/** Returns the rank of a known name: its edit distance, reduced if it contains the given name. */
const computeRank = (known: string, name: string): number =>
  computeDistance(known, name) * (known.toLowerCase().includes(name.toLowerCase()) ? containsFactor : 1)

/** Factor for the edit distance of names that contain the given text. */
const containsFactor = 0.5

/** Weight of the case-sensitive edit distance, which only breaks ties. */
const caseWeight = 0.001

/** Returns the edit distance, ignoring case except to break ties. */
const computeDistance = (known: string, name: string): number =>
  distance(known.toLowerCase(), name.toLowerCase()) + caseWeight * distance(known, name)

/** Maximum number of hosts in an error message. */
const maxNamedHosts = 20

/** Returns a `not-found` error for an invalid host position; its message lists the hosts. */
export const createHostNotFoundError = (
  hostId: number | string,
  hosts: readonly Pick<Host, 'id' | 'name'>[],
): ServiceError => {
  const named = hosts.slice(0, maxNamedHosts).map(({ id, name }) => `${id} (${name})`)
  const more = hosts.length > maxNamedHosts ? ` and ${hosts.length - maxNamedHosts} more` : ''
  return new ServiceError('not-found', `unknown host "${hostId}"; available: ${named.join(', ')}${more}`)
}
