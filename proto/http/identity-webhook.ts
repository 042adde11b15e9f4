import { z } from 'zod'
import { answer } from './answer.ts'

const id = z.string().min(1).max(256)

/** What is read of an event of the identity provider; other types are heard and change nothing. */
export const IdentityEvent = z.object({
  type: z.string().min(1).max(128),
  data: z.looseObject({ id: id.optional() }),
})

/** An event about one user or one session. */
export const IdentityEventOfOne = IdentityEvent.extend({ data: z.object({ id }) })

const Whole = z.int().min(0)

/** `POST /api/webhooks/identity-provider`: what came of it; null of what there was nothing to do about. */
export const IdentityWebhookAnswer = answer(
  z.object({
    done: z.enum(['person-forgotten', 'session-ended']).nullable(),
    /** Of a person who was forgotten: how much of them there was. */
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
