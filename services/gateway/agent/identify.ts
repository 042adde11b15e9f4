import type { Request } from 'express'
import type { Identity } from '#proto/call.ts'
import { read } from '#shared/config/setting.ts'
import { isSharedSecret } from '../auth/shared-secret.ts'
import { bearerOf } from '../request/bearer.ts'
import type { Gateway } from '../gateway.ts'
import { agentDoorSettings } from './config.ts'

/** Whoever shares the bearer of the agent: all of them are one caller, who may ask and change nothing. */
const tokenHolder: Identity = { kind: 'key', subject: 'agent-api-token', features: 'all', scopes: ['agent'] }

/** Who asks the agent: as everywhere else, or by the shared bearer where the agent needs somebody to be known. */
export const identifyAsker = async (request: Request<Record<string, string>>, gateway: Gateway): Promise<Identity> => {
  const { AGENT_API_TOKEN: token } = read(agentDoorSettings, gateway.env)
  const counts = token !== undefined && gateway.policy().permissions.AGENT.access === 'authenticated'
  if (counts && isSharedSecret(bearerOf(request.headers), token)) return tokenHolder
  return gateway.identify(request)
}
