import { ServiceError } from '#proto/errors.ts'
import { mostOfAKind } from './stores.ts'

/** Throws `conflict` when there is no room for another besides so many. */
export const requireRoom = (kind: string, others: number): void => {
  if (others < mostOfAKind) return
  throw new ServiceError('conflict', `there are ${mostOfAKind} entries of the kind ${kind} already; remove one first`)
}
