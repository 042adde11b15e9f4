import { z } from 'zod'
import { rpc, service } from './contract.ts'
import { HostKey } from './host.ts'

/** Watches the rules, keeps the state of every condition and tells the people concerned. */
export const alerts = service('alert-dispatcher', {
  firing: rpc({
    doc: 'How many conditions are firing on each host that has any.',
    callers: ['gateway'],
    safe: true,
    input: z.object({}),
    output: z.array(z.object({ hostKey: HostKey, conditions: z.number().int().min(1) })),
  }),
})
