import { z } from 'zod'
import { event } from './contract.ts'
import { serviceNames } from './call.ts'

/** Told by every serving process every two seconds and once more, with `leaving`, when it drains. */
export const instanceAnnounced = event({
  name: 'instance.announced',
  doc: 'A process serves a contract; callers pick preferred instances from these.',
  publishers: serviceNames,
  listeners: serviceNames,
  payload: z.object({
    service: z.enum(serviceNames),
    instance: z.string().regex(/^[a-z0-9-]{1,64}$/),
    version: z.string(),
    /** Calls in flight. */
    load: z.number().int().min(0),
    leaving: z.boolean(),
    /** Which questions it takes, where a service is parted; all of them when nothing is said. */
    part: z.enum(['all', 'own', 'guest']).optional(),
  }),
})

/** Told by a process that has just started; whoever serves announces itself at once. */
export const instanceSought = event({
  name: 'instance.sought',
  doc: 'A process wants to know which instances there are.',
  publishers: serviceNames,
  listeners: serviceNames,
  payload: z.object({}),
})
