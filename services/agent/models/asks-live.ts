import type { ModelProvider } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { hasDesignatedKey } from './access.ts'
import { modelSettings } from './config.ts'

/** Whether the live list of a gateway is read: the operator means a key for the gateway and has not switched the list off. */
export const asksLive = (env: Environment, provider: ModelProvider): boolean => {
  const given = read(modelSettings, env)
  const switches = {
    gateway_a: given.GATEWAY_A_DYNAMIC_MODELS,
    gateway_b: given.GATEWAY_B_DYNAMIC_MODELS,
    gateway_c: given.GATEWAY_C_DYNAMIC_MODELS,
  }
  return switches[provider] && hasDesignatedKey(env, provider)
}
