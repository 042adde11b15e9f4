import { z } from 'zod'
import { ToolServerProbeResult, UserToolServer } from '../external-tools.ts'
import {
  ConfigCheck,
  ModelList,
  ModelSettings,
  ModelSettingsSecrets,
  ModelSettingsUpdate,
  ModelSignIn,
  ModelTestResult,
  SignInState,
} from '../models.ts'
import { createResponseSchema } from './response.ts'
import { textParameter } from './parameters.ts'
import { ReturnPath } from './session.ts'

/** Response of `GET /api/v1/agents/models`. */
export const ModelsResponse = createResponseSchema(ModelList, z.object({ count: z.int() }))

/** Response of `GET /api/v1/agents/config-check`. */
export const ConfigCheckResponse = createResponseSchema(ConfigCheck, z.object({}))

/** Response of `GET`, `PUT` and `DELETE /api/v1/agents/settings`. */
export const ModelSettingsResponse = createResponseSchema(ModelSettings, z.object({}))
/**
 * Body of `PUT /api/v1/agents/settings` and `POST /api/v1/agents/settings/test`. An absent field keeps its saved value;
 * null deletes it.
 */
export const ModelSettingsRequest = z.strictObject({ ...ModelSettingsUpdate.shape, ...ModelSettingsSecrets.shape })
/** Response of `POST /api/v1/agents/settings/test`. A failed request to the model gateway is a result, not an error. */
export const ModelTestResponse = createResponseSchema(ModelTestResult, z.object({}))

/** Response of `GET` and `DELETE /api/v1/agents/sign-in`. */
export const ModelSignInResponse = createResponseSchema(ModelSignIn, z.object({}))

/** Body of `POST /api/v1/agents/sign-in`: the path on this site to return to. */
export const BeginSignInRequest = z.strictObject({ return: ReturnPath.default('/agents') })
/** Response of `POST /api/v1/agents/sign-in`: the URL to redirect the browser to. */
export const BeginSignInResponse = createResponseSchema(z.object({ url: z.url() }), z.object({}))

/**
 * Query parameters of `GET /api/v1/agents/sign-in/callback`, to which AnyRouter redirects the browser (RFC 6749).
 * Unknown parameters are ignored.
 */
export const SignInCallbackQuery = z.object({
  state: SignInState,
  code: textParameter.max(2_048).optional(),
  error: textParameter.max(256).optional(),
  iss: textParameter.max(2_048).optional(),
})

/** Body of `POST /api/v1/mcp/probe`: the tool server to test. */
export const ProbeRequest = z.strictObject(UserToolServer.shape)
/** Response of `POST /api/v1/mcp/probe`: the tools of the server. An unusable server is a result, not an error. */
export const ProbeResponse = createResponseSchema(ToolServerProbeResult, z.object({}))
