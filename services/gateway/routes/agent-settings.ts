import type { CallContext } from '#proto/call.ts'
import { ModelSettingsRequest, ModelSettingsResponse, ModelTestResponse } from '#proto/http/models.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { encryptForTransit } from '#shared/seal/transit.ts'
import type { Gateway } from '../gateway.ts'
import { defineDeleteRoute, defineGetRoute, definePostRoute, definePutRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'
import type { z } from 'zod'

const path = '/api/v1/agents/settings'
const reading = { path, feature: 'AGENT', access: 'read', limit: 'data', query: noQuery } as const
const writing = { ...reading, access: 'write' } as const

const read = defineGetRoute({
  ...reading,
  doc: 'Returns the settings of the model gateway and the source of each; of secrets only whether they are set',
  answer: ModelSettingsResponse,
  handle: async ({ call }, { agent }) => createSuccessBody(await agent.modelSettings({}, call), {}),
})

const update = definePutRoute({
  ...writing,
  doc: 'Saves the API key, the base URL and the default model of the model gateway; absent fields keep their values',
  refuses: [409],
  body: ModelSettingsRequest,
  answer: ModelSettingsResponse,
  handle: async ({ body, call, requestId, isCallerLocal }, gateway) => {
    const action = { action: 'update-model-settings', host: null, target: { settings: Object.keys(body).join(', ') } }
    const saved = await gateway.audit.of(action, { call, requestId }, async () =>
      gateway.agent.updateModelSettings({ ...(await encryptKey(gateway, body, call)), isCallerLocal }, call),
    )
    return createSuccessBody(saved, {})
  },
})

const remove = defineDeleteRoute({
  ...writing,
  doc: 'Deletes the saved settings of the model gateway; variables and defaults apply again',
  answer: ModelSettingsResponse,
  handle: async ({ call, requestId }, { agent, audit }) => {
    const action = { action: 'delete-model-settings', host: null, target: {} }
    const remaining = await audit.of(action, { call, requestId }, () => agent.deleteModelSettings({}, call))
    return createSuccessBody(remaining, {})
  },
})

const test = definePostRoute({
  ...writing,
  path: `${path}/test`,
  doc: 'Sends a short request to the default model, with the given settings instead of the saved ones',
  limit: 'agent',
  refuses: [409],
  body: ModelSettingsRequest,
  answer: ModelTestResponse,
  handle: async ({ body, call, isCallerLocal }, gateway) => {
    const changed = await encryptKey(gateway, body, call)
    return createSuccessBody(await gateway.agent.testModelSettings({ ...changed, isCallerLocal }, call), {})
  },
})

/** Encrypts the API key for the bus; only `agent` can decrypt it. */
const encryptKey = async (
  { agent }: Pick<Gateway, 'agent'>,
  { apiKey, ...settings }: z.output<typeof ModelSettingsRequest>,
  call: CallContext,
) => {
  if (apiKey === undefined) return { settings }
  return { settings, encrypted: await encryptForTransit(await agent.modelSecretsKey({}, call), { apiKey }) }
}

/** Routes of the settings of the model gateway. */
export const agentSettingsRoutes: readonly Route[] = [read, update, remove, test]
