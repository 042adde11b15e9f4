import { z } from 'zod'
import type { Feature } from './call.ts'
import { rpc } from './contract.ts'
import { HostKey } from './host.ts'

/** What is worst about a host, in few words. */
export const Finding = z.object({ severity: z.enum(['warning', 'critical']), title: z.string().max(60) })
export type Finding = z.infer<typeof Finding>

/** Served by every service that finds something wrong with hosts. */
export const findingMethods = (feature: Feature) => ({
  worstFindings: rpc({
    doc: 'The worst that is wrong now with each host that has anything wrong, from memory.',
    callers: ['gateway'],
    feature,
    safe: true,
    input: z.object({}),
    output: z.array(Finding.extend({ hostKey: HostKey })),
  }),
})
