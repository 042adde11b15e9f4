import { z } from 'zod'
import { ProbedServer, UserServer } from '../external-tools.ts'
import { ConfigCheck, ModelSignIn, ModelsOffered, SignInState } from '../models.ts'
import { answer } from './answer.ts'
import { text } from './parameters.ts'
import { ReturnPath } from './session.ts'

/** Response of `GET /api/v1/agents/models`. */
export const ModelsResponse = answer(ModelsOffered, z.object({ count: z.int() }))

/** Response of `GET /api/v1/agents/config-check`. */
export const ConfigCheckResponse = answer(ConfigCheck, z.object({}))

/** Response of `GET` and `DELETE /api/v1/agents/sign-in`. */
export const ModelSignInResponse = answer(ModelSignIn, z.object({}))

/** Body of `POST /api/v1/agents/sign-in`: the path on this site to return to. */
export const BeginSignInRequest = z.strictObject({ return: ReturnPath.default('/agents') })
/** Response of `POST /api/v1/agents/sign-in`: the URL to redirect the browser to. */
export const BeginSignInResponse = answer(z.object({ url: z.url() }), z.object({}))

/**
 * Query parameters of `GET /api/v1/agents/sign-in/callback`: those of the redirect by gateway C according to RFC 6749.
 * Others are ignored.
 */
export const SignInCallbackQuery = z.object({
  state: SignInState,
  code: text.max(2_048).optional(),
  error: text.max(256).optional(),
  iss: text.max(2_048).optional(),
})

/** Body of `POST /api/v1/mcp/probe`: the tool server to test. */
export const ProbeRequest = z.strictObject(UserServer.shape)
/** Response of `POST /api/v1/mcp/probe`: the tools of the server. An unusable server is a result, not an error. */
export const ProbeResponse = answer(ProbedServer, z.object({}))
