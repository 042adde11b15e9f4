import { z } from 'zod'
import { ProbedServer, UserServer } from '../external-tools.ts'
import { ConfigCheck, ModelSignIn, ModelsOffered, SignInState } from '../models.ts'
import { answer } from './answer.ts'
import { text } from './parameters.ts'
import { ReturnPath } from './session.ts'

/** `GET /api/v1/agents/models` */
export const ModelsAnswer = answer(ModelsOffered, z.object({ count: z.int() }))

/** `GET /api/v1/agents/config-check` */
export const ConfigCheckAnswer = answer(ConfigCheck, z.object({}))

/** `GET` and `DELETE /api/v1/agents/sign-in` */
export const ModelSignInAnswer = answer(ModelSignIn, z.object({}))

/** `POST /api/v1/agents/sign-in`: where on this site the person wants to be afterwards. */
export const BeginSignInRequest = z.strictObject({ return: ReturnPath.default('/agents') })
/** Where the browser is to go. */
export const BeginSignInAnswer = answer(z.object({ url: z.url() }), z.object({}))

/** `GET /api/v1/agents/sign-in/callback`: what gateway C sends people back with, as RFC 6749 says; what it adds is not read. */
export const SignInCallbackQuery = z.object({
  state: SignInState,
  code: text.max(2_048).optional(),
  error: text.max(256).optional(),
  iss: text.max(2_048).optional(),
})

/** `POST /api/v1/mcp/probe` */
export const ProbeRequest = z.strictObject(UserServer.shape)
/** What the server offers; one that cannot be used is an answer like any other. */
export const ProbeAnswer = answer(ProbedServer, z.object({}))
