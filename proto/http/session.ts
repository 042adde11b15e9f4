import { z } from 'zod'
import { Feature, Identity, Profile } from '../call.ts'
import { ownPathOf } from '../own-path.ts'
import { answer } from './answer.ts'
import { text } from './parameters.ts'

/** Longest path that somebody is sent back to. */
const returnLength = 2_048
const notAPath = 'must be a path of this site, such as /overview'

/** A path of this site in the form a browser will read it: with nothing in it that leads to another site. */
export const ReturnPath = text
  .max(returnLength, `must not be longer than ${returnLength} characters`)
  .transform((given, context) => {
    const path = ownPathOf(given)
    if (path !== undefined) return path
    context.addIssue({ code: 'custom', message: notAPath })
    return z.NEVER
  })

/** `GET /api/v1/auth/sign-in` */
export const SignInQuery = z.strictObject({ return: ReturnPath.default('/') })

/** `GET /api/v1/auth/callback`: where the identity provider sends people back to, with what it chooses to add. */
export const CallbackQuery = z.object({
  return: ReturnPath.default('/'),
  // An empty one would be equal to a cookie that is missing.
  state: text.min(1, 'must not be empty').max(64),
  handshaken: text.max(1).optional(),
  __clerk_handshake: text.max(16_384).optional(),
  __clerk_db_jwt: text.max(2_048).optional(),
})

/** `POST /api/v1/auth/session`: an API key, to be kept by the browser in a cookie that its scripts cannot read. */
export const SessionRequest = z.strictObject({ key: z.string().min(1, 'is required').max(4_096, 'is no API key') })

/** Who is asking, and what they may do. */
export const Me = z.object({
  kind: Identity.shape.kind,
  subject: z.string(),
  ...Profile.shape,
  provider: z.enum(['none', 'idp', 'proxy', 'trusted']),
  /** Features this caller may use. */
  features: z.array(Feature),
  /** Whether what is shown may be read, and whether anything may be changed, in so far as the features allow. */
  may: z.object({ read: z.boolean(), write: z.boolean() }),
  /** How to become somebody else: a page that leads to the identity provider, and whether API keys are taken. */
  signIn: z.object({ page: z.string().nullable(), key: z.boolean() }),
})
export type Me = z.infer<typeof Me>

/** `GET /api/v1/auth/me`, and the answer to a sign-in. */
export const MeAnswer = answer(Me, z.object({}))

/** `DELETE /api/v1/auth/session` */
export const SignOutAnswer = answer(z.object({ signedOut: z.literal(true) }), z.object({}))
