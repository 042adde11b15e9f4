import { distance } from 'fastest-levenshtein'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'

const nearestCount = 5

/** `not-found` for a name that nothing has, with the five nearest in its details and the very near one in its sentence. */
export const noSuch = (kind: string, name: string, known: Iterable<string>, parameter = 'name'): ServiceError => {
  const nearest = nearestTo(name, known)
  const [best] = nearest
  const isClose = best !== undefined && apart(best, name) <= best.length / 2
  return new ServiceError('not-found', `unknown ${kind} "${name}"${isClose ? `; did you mean "${best}"?` : ''}`, {
    details: { parameter, nearest },
  })
}

/** The five names that are nearest to one, the very nearest first. */
export const nearestTo = (name: string, known: Iterable<string>): string[] =>
  [...known].toSorted((a, b) => ranked(a, name) - ranked(b, name)).slice(0, nearestCount)

/** A name that goes on before or after what was written may well be meant, where any short name takes as few letters to change. */
const ranked = (known: string, name: string): number =>
  apart(known, name) * (known.toLowerCase().includes(name.toLowerCase()) ? goingOnCounts : 1)

/** What letters count that are there besides those that were written. */
const goingOnCounts = 0.5

/** What the case of a letter counts beside the letter itself. */
const caseCounts = 0.001

/** Letters to change; of names that differ in nothing but case, the one that differs least. */
const apart = (known: string, name: string): number =>
  distance(known.toLowerCase(), name.toLowerCase()) + caseCounts * distance(known, name)

/** Hosts that a refusal names. */
const namedHosts = 20

/** `not-found` for a position at which there is no host, naming those that there are. */
export const noSuchHost = (hostId: number | string, hosts: readonly Pick<Host, 'id' | 'name'>[]): ServiceError => {
  const named = hosts.slice(0, namedHosts).map(({ id, name }) => `${id} (${name})`)
  const more = hosts.length > namedHosts ? ` and ${hosts.length - namedHosts} more` : ''
  return new ServiceError('not-found', `unknown host "${hostId}"; available: ${named.join(', ')}${more}`)
}
