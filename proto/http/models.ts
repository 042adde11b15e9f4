import { z } from 'zod'
import { ProbedServer, UserServer } from '../external-tools.ts'
import { ConfigCheck, ModelSignIn, ModelsOffered, SignInState } from '../models.ts'
import { answer } from './answer.ts'
import { text } from './parameters.ts'
import { ReturnPath } from './session.ts'

/** `GET /api/v1/agents/models` */
export const ModelsResponse = answer(ModelsOffered, z.object({ count: z.int() }))

/** `GET /api/v1/agents/config-check` */
export const ConfigCheckResponse = answer(ConfigCheck, z.object({}))

/** `GET` and `DELETE /api/v1/agents/sign-in` */
export const ModelSignInResponse = answer(ModelSignIn, z.object({}))

/** `POST /api/v1/agents/sign-in`: the return path on this site. */
export const BeginSignInRequest = z.strictObject({ return: ReturnPath.default('/agents') })
/** Redirect target of the browser. */
export const BeginSignInResponse = answer(z.object({ url: z.url() }), z.object({}))

/**
 * `GET /api/v1/agents/sign-in/callback`: the redirect parameters of gateway C according to RFC 6749. Others are
 * ignored.
 */
export const SignInCallbackQuery = z.object({
  state: SignInState,
  code: text.max(2_048).optional(),
  error: text.max(256).optional(),
  iss: text.max(2_048).optional(),
})

/** `POST /api/v1/mcp/probe` */
export const ProbeRequest = z.strictObject(UserServer.shape)
/** The tools of the server. An unusable server is a result, not an error. */
export const ProbeResponse = answer(ProbedServer, z.object({}))
