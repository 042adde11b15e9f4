import { z } from 'zod'
import { event } from './contract.ts'
import { serviceNames } from './call.ts'

/** Every serving process publishes it every two seconds. When the process drains, `leaving` is true. */
export const instanceAnnounced = event({
  name: 'instance.announced',
  doc: 'A process serves a contract; callers select preferred instances from these.',
  publishers: serviceNames,
  listeners: serviceNames,
  payload: z.object({
    service: z.enum(serviceNames),
    instance: z.string().regex(/^[a-z0-9-]{1,64}$/),
    version: z.string(),
    /** Calls in flight. */
    load: z.number().int().min(0),
    leaving: z.boolean(),
    /** Requests that the process accepts: `guest` for user connections, `own` for all others; `all` by default. */
    part: z.enum(['all', 'own', 'guest']).optional(),
  }),
})

/** Published by a process that has just started; serving processes then announce themselves immediately. */
export const instancesRequested = event({
  name: 'instance.sought',
  doc: 'A process requests announcements of all instances.',
  publishers: serviceNames,
  listeners: serviceNames,
  payload: z.object({}),
})
