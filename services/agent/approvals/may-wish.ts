import type { Call } from '#proto/call.ts'
import { mayUse } from '#proto/call.ts'
import { inCloudMode } from '#shared/config/cloud-mode.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { agentSettings } from '../config.ts'

/**
 * Whether whoever asks may have the agent wish for changes. Callers of whom nothing is known come as far as the agent only where there is
 * no sign-in at all, or as guests of cloud mode, who never may. A key must be one that may write.
 */
export const mayWish = ({ identity }: Call, env: Environment): boolean => {
  const { AGENT_ENABLE_CONTROL_TOOLS: enabled } = read(agentSettings, env)
  const isCloud = inCloudMode(env)
  if (!(enabled ?? !isCloud)) return false
  if (identity.kind === 'guest' || (identity.kind === 'anonymous' && isCloud)) return false
  const mayWrite = identity.scopes === undefined || identity.scopes.includes('write')
  return mayWrite && mayUse(identity, 'ACTIONS')
}
