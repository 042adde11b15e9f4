import { z } from 'zod'
import { rpc } from './contract.ts'
import { Host, HostLoad, HostState, hostDataReaders } from './host.ts'

/** A configured host with the result of its last probe and its load; `load` is null if unknown. */
export const FleetHost = HostState.omit({
  checkedAtMs: true,
  failure: true,
  clockSkewMs: true,
  missingLogs: true,
}).extend({
  group: Host.shape.group,
  tags: Host.shape.tags,
  load: HostLoad.nullable(),
  /** Time since the probe; null before the first one. */
  ageMs: z.number().nullable(),
})
export type FleetHost = z.infer<typeof FleetHost>

/** Methods for all hosts at once. */
export const fleetMethods = {
  fleet: rpc({
    doc: 'Returns every host with its last known state and load, at most 10 seconds old; queries no host.',
    callers: hostDataReaders,
    feature: 'OVERVIEW',
    safe: true,
    input: z.object({}),
    output: z.array(FleetHost),
  }),
}
