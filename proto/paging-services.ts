import { z } from 'zod'
import { rpc } from './contract.ts'

/** A service of the paging account that alerts could go to. It has no key: that is chosen there and saved here. */
export const PagingService = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** Whether it takes alerts now; a newer release may know more words. */
  status: z.string().nullable(),
  /** Where its integrations are set up. */
  url: z.string().nullable(),
})
export type PagingService = z.infer<typeof PagingService>

/** Methods for setting paging up. */
export const pagingServiceMethods = {
  pagingServices: rpc({
    doc: 'Services of the PagerDuty account, to choose from; `conflict` while the token for it is missing or refused.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({ search: z.string().max(100).optional() }),
    output: z.object({ services: z.array(PagingService), more: z.boolean() }),
  }),
}
