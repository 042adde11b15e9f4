import type { Parts } from '../parts.ts'
import type { Condition } from './condition.ts'

/**
 * A condition as it goes on in a store that lost it. The notification of which no delivery is on record may be lost too, so it is due
 * again; one that the queue still holds is dropped then, as the later one says more.
 */
export const afterLoss = async (
  { isNotified }: Pick<Parts, 'isNotified'>,
  condition: Condition,
): Promise<Condition> => {
  if (condition.told === null || condition.phase !== 'firing') return condition
  return (await isNotified(condition.episode)) ? condition : { ...condition, told: null }
}
