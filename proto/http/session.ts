import { z } from 'zod'
import { Feature, Identity, UserProfile } from '../call.ts'
import { parseSameOriginPath } from '../same-origin-path.ts'
import { createResponseSchema } from './response.ts'
import { textParameter } from './parameters.ts'

/** Maximum length of a return path. */
const maxReturnPathLength = 2_048
const notAPath = 'must be a path of this site, such as /overview'

/** A path of this site, normalized like a browser does. Paths that lead to another site are rejected. */
export const ReturnPath = textParameter
  .max(maxReturnPathLength, `must not be longer than ${maxReturnPathLength} characters`)
  .transform((given, context) => {
    const path = parseSameOriginPath(given)
    if (path !== undefined) return path
    context.addIssue({ code: 'custom', message: notAPath })
    return z.NEVER
  })

/** Query parameters of `GET /api/v1/auth/sign-in`. */
export const SignInQuery = z.strictObject({ return: ReturnPath.default('/') })

/** Query parameters of `GET /api/v1/auth/callback`. The identity provider can add others to its redirect. */
export const CallbackQuery = z.object({
  return: ReturnPath.default('/'),
  // An empty state would match a missing cookie.
  state: textParameter.min(1, 'must not be empty').max(64),
  handshaken: textParameter.max(1).optional(),
  __clerk_handshake: textParameter.max(16_384).optional(),
  __clerk_db_jwt: textParameter.max(2_048).optional(),
})

/** Body of `POST /api/v1/auth/session`: an API key that the browser stores in an HttpOnly cookie. */
export const SessionRequest = z.strictObject({ key: z.string().min(1, 'is required').max(4_096, 'is not an API key') })

/** The caller and its permissions. */
export const Me = z.object({
  kind: Identity.shape.kind,
  subject: z.string(),
  ...UserProfile.shape,
  provider: z.enum(['none', 'idp', 'proxy', 'trusted']),
  /** Features that the caller can use. */
  features: z.array(Feature),
  /** Whether the caller has read and write access, within its features. */
  may: z.object({ read: z.boolean(), write: z.boolean() }),
  /** How to sign in: the page that redirects to the identity provider, and whether API keys are accepted. */
  signIn: z.object({ page: z.string().nullable(), key: z.boolean() }),
})
export type Me = z.infer<typeof Me>

/** Response of `GET /api/v1/auth/me` and of a sign-in. */
export const MeResponse = createResponseSchema(Me, z.object({}))

/** Response of `DELETE /api/v1/auth/session`. */
export const SignOutResponse = createResponseSchema(z.object({ signedOut: z.literal(true) }), z.object({}))
