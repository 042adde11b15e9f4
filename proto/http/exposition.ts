import { z } from 'zod'
import { createIntegerParameter, deprecated, textParameter } from './parameters.ts'

const maxSelectorLength = 1_024
const maxSelectors = 20
const maxHosts = 100
/** A position in the host list. */
const listedHost = createIntegerParameter(0, 99_999)

const createRepeatedParameter = <S extends z.ZodType>(each: S, max: number) =>
  z.preprocess(
    (given) => (typeof given === 'string' ? [given] : given),
    z.array(each).max(max, `must be given at most ${max} times`).optional(),
  )

/** Query parameters of `GET /api/v1/metrics`. The response contains only hosts and series that match all of them. */
export const MetricsQuery = z.strictObject({
  hostId: createRepeatedParameter(listedHost, maxHosts),
  'host[]': createRepeatedParameter(listedHost, maxHosts).meta(deprecated),
  group: textParameter.min(1, 'must not be empty').max(128, 'must not be longer than 128 characters').optional(),
  /** Prometheus series selectors. A series is returned if any of them matches. */
  'match[]': createRepeatedParameter(
    z.string().max(maxSelectorLength, `must not be longer than ${maxSelectorLength} characters`),
    maxSelectors,
  ),
})
export type MetricsQuery = z.infer<typeof MetricsQuery>
