import { z } from 'zod'
import { event } from './contract.ts'
import { serviceNames } from './call.ts'

/** Published by every serving process every two seconds, and with `leaving` when it drains. */
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
    /** Which requests it serves if the service is split; all by default. */
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
