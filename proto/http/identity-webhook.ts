import { z } from 'zod'
import { createResponseSchema } from './response.ts'

const id = z.string().min(1).max(256)

/** An event of the identity provider, reduced to the fields that the product reads. Unknown event types are ignored. */
export const IdentityEvent = z.object({
  type: z.string().min(1).max(128),
  data: z.looseObject({ id: id.optional() }),
})

/** An event about one user or one session. */
export const IdentitySubjectEvent = IdentityEvent.extend({ data: z.object({ id }) })

const Whole = z.int().min(0)

/** Response of `POST /api/webhooks/identity-provider`; `done` is null if there was nothing to do. */
export const IdentityWebhookResponse = createResponseSchema(
  z.object({
    done: z.enum(['person-forgotten', 'session-ended']).nullable(),
    /** Number of removed records of a deleted user. */
    removed: z
      .object({
        keys: Whole,
        connections: Whole,
        subscriptions: Whole,
        conversations: Whole,
        pageViews: Whole.optional(),
      })
      .nullable(),
  }),
  z.object({}),
)
