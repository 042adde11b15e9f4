import { z } from 'zod'
import { rpc } from './contract.ts'

/** A service of the PagerDuty account. Its integration key is not included. */
export const PagerDutyService = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** The status of the service. A newer release may add values. */
  status: z.string().nullable(),
  /** Page of PagerDuty with the integrations of the service. */
  url: z.string().nullable(),
})
export type PagerDutyService = z.infer<typeof PagerDutyService>

/** Methods for the setup of paging channels. */
export const pagingServiceMethods = {
  pagingServices: rpc({
    doc: 'Lists services of the PagerDuty account; `conflict` if its token is missing or rejected.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({ search: z.string().max(100).optional() }),
    output: z.object({ services: z.array(PagerDutyService), more: z.boolean() }),
  }),
}
