import { distance } from 'fastest-levenshtein'
import { ServiceError } from '#proto/errors.ts'

const nearestCount = 5

/** `not-found` for a name that nothing has, with the five nearest in its details and the very near one in its sentence. */
export const noSuch = (kind: string, name: string, known: Iterable<string>, parameter = 'name'): ServiceError => {
  const nearest = [...known].toSorted((a, b) => distance(a, name) - distance(b, name)).slice(0, nearestCount)
  const [best] = nearest
  const isClose = best !== undefined && distance(best, name) <= best.length / 2
  return new ServiceError('not-found', `no such ${kind}: ${name}${isClose ? `; did you mean ${best}?` : ''}`, {
    details: { parameter, nearest },
  })
}
