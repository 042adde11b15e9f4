import { z } from 'zod'
import { rpc } from './contract.ts'
import { Host, HostLoad, HostState, readers } from './host.ts'

/** A host of the list, how the last probe found it and how busy it was; `load` is null where nobody can tell. */
export const FleetHost = HostState.omit({ checkedAtMs: true, failure: true, clockSkewMs: true }).extend({
  group: Host.shape.group,
  tags: Host.shape.tags,
  load: HostLoad.nullable(),
  /** How long ago the probe was; null before the first one ended. */
  ageMs: z.number().nullable(),
})
export type FleetHost = z.infer<typeof FleetHost>

/** Methods about all hosts at once. */
export const fleetMethods = {
  fleet: rpc({
    doc: 'Every host with its last known state and load, at most 10 seconds old; asks no host.',
    callers: readers,
    feature: 'OVERVIEW',
    safe: true,
    input: z.object({}),
    output: z.array(FleetHost),
  }),
}
