import { z } from 'zod'
import { rpc, service } from './contract.ts'
import { findingMethods } from './finding.ts'
import { HostKey } from './host.ts'
import { pruneMethods } from './prune.ts'

/** Watches the rules, keeps the state of every condition and tells the people concerned. */
export const alerts = service('alert-dispatcher', {
  firing: rpc({
    doc: 'How many conditions are firing on each host that has any.',
    callers: ['gateway'],
    safe: true,
    input: z.object({}),
    output: z.array(z.object({ hostKey: HostKey, conditions: z.number().int().min(1) })),
  }),
  sweep: rpc({
    doc: 'Checks every rule on every host and tells the people concerned.',
    callers: ['gateway'],
    input: z.object({}),
    /** Conditions that fire now, and messages handed to channels by this sweep. */
    output: z.object({ hosts: z.int().min(0), firing: z.int().min(0), messages: z.int().min(0) }),
  }),
  ...findingMethods('HEALTH'),
  ...pruneMethods,
})
