import { z } from 'zod'
import { text, whole } from './parameters.ts'

const selectorLength = 1_024
const mostSelectors = 20
const mostHosts = 100
/** A place in the list of hosts. */
const listedHost = whole(0, 99_999)

const several = <S extends z.ZodType>(each: S, most: number) =>
  z.preprocess(
    (given) => (typeof given === 'string' ? [given] : given),
    z.array(each).max(most, `must be given at most ${most} times`).optional(),
  )

/** `GET /api/v1/metrics`: which hosts, and which of their series; each narrows what the others leave. */
export const MetricsQuery = z.strictObject({
  'host[]': several(listedHost, mostHosts),
  group: text.min(1, 'must not be empty').max(128, 'must not be longer than 128 characters').optional(),
  /** Selectors of series as Prometheus writes them; a series that any of them selects is given. */
  'match[]': several(
    z.string().max(selectorLength, `must not be longer than ${selectorLength} characters`),
    mostSelectors,
  ),
})
export type MetricsQuery = z.infer<typeof MetricsQuery>
