import { z } from 'zod'
import { bytes, stream } from './contract.ts'
import { ofHost } from './host.ts'

/** How a host's figures stand. */
export const ExpositionHead = z.object({
  /** Null when the host's last batch of figures came; else what kept the host from answering, or the code of another error. */
  failure: z.string().nullable(),
  /** Since the figures were taken; null when there are none. */
  ageMs: z.number().nullable(),
  /** How long asking again would give the same. */
  freshForMs: z.number(),
})
export type ExpositionHead = z.infer<typeof ExpositionHead>

/** Methods for scrapers. */
export const expositionMethods = {
  exposition: stream({
    doc: "A host's metrics and asynchronous metrics as one gzipped Prometheus text without labels, taken at most every 30 seconds; of a host that fails the last good text, while it is of any use.",
    callers: ['gateway'],
    feature: 'METRICS',
    safe: true,
    prefer: 'hostKey',
    input: z.object(ofHost),
    head: ExpositionHead,
    frames: bytes(),
    tail: z.object({}),
  }),
}
