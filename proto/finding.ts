import { z } from 'zod'
import type { Feature } from './call.ts'
import { rpc } from './contract.ts'
import { HostKey } from './host.ts'

/** The worst problem of a host: its severity and a short title. */
export const Finding = z.object({ severity: z.enum(['warning', 'critical']), title: z.string().max(60) })
export type Finding = z.infer<typeof Finding>

/** Returns the methods of a service that reports problems of hosts; `feature` restricts who can call them. */
export const createFindingMethods = (feature: Feature) => ({
  worstFindings: rpc({
    doc: 'Returns the worst current problem of each host with any, from memory.',
    callers: ['gateway', 'mcp'],
    feature,
    safe: true,
    input: z.object({}),
    output: z.array(Finding.extend({ hostKey: HostKey })),
  }),
})
