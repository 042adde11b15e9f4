import { z } from 'zod'
import { declareByteFrames, stream } from './contract.ts'
import { hostInput } from './host.ts'

/** The state of the metrics of a host. */
export const ExpositionHead = z.object({
  /** Connection error or other error code of the last fetch of metrics; null if it succeeded. */
  failure: z.string().nullable(),
  /** Age of the metrics in milliseconds; null without metrics. */
  ageMs: z.number().nullable(),
  /** How long the response can be cached, in milliseconds. */
  freshForMs: z.number(),
})
export type ExpositionHead = z.infer<typeof ExpositionHead>

/** Methods for Prometheus scrapes of host metrics. */
export const expositionMethods = {
  exposition: stream({
    doc: 'Streams metrics and asynchronous metrics of a host as one gzipped Prometheus text without labels, fetched at most every 30 seconds. For a failing host it is the last successful text while it is fresh enough.',
    callers: ['gateway'],
    feature: 'METRICS',
    safe: true,
    prefer: 'hostKey',
    input: z.object(hostInput),
    head: ExpositionHead,
    frames: declareByteFrames(),
    tail: z.object({}),
  }),
}
