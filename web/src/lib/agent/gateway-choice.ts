import type { ModelSettings, ModelSettingsChange } from '#lib/api/agent.ts'

/** The gateways to choose from. `other` is any server with the API of OpenAI, at its own URL. */
export const gatewayChoices = [
  { id: 'gateway_a', name: 'OpenRouter', model: 'anthropic/claude-sonnet-4.5' },
  { id: 'gateway_b', name: 'NVIDIA NIM', model: 'openai/gpt-oss-120b' },
  { id: 'gateway_c', name: 'AnyRouter', model: 'anyrouter/auto' },
  { id: 'other', name: 'Other server (OpenAI-compatible)', model: 'gpt-5' },
] as const
export type GatewayChoice = (typeof gatewayChoices)[number]['id']

/** What a user types. */
export interface GatewayForm {
  gateway: GatewayChoice
  /** Empty keeps the saved key. */
  apiKey: string
  baseUrl: string
  /** The model as the gateway names it. */
  model: string
}

const valueOf = (settings: ModelSettings, field: string): string =>
  settings.fields.find((each) => each.field === field)?.value ?? ''

/** Returns the form with the current settings. */
export const readGatewayForm = (settings: ModelSettings): GatewayForm => {
  const [baseUrl, reference] = [valueOf(settings, 'baseUrl'), valueOf(settings, 'model')]
  const colon = reference.indexOf(':')
  const provider = gatewayChoices.find(({ id }) => id === reference.slice(0, Math.max(colon, 0)))?.id ?? 'gateway_a'
  return { gateway: baseUrl ? 'other' : provider, apiKey: '', baseUrl, model: reference.slice(colon + 1) }
}

/** Returns the change that a form makes. Settings of variables are omitted, because they cannot be changed. */
export const toSettingsChange = (
  settings: ModelSettings,
  { gateway, apiKey, baseUrl, model }: GatewayForm,
): ModelSettingsChange => {
  const isFree = (field: string) =>
    settings.fields.every((each) => each.field !== field || each.source !== 'environment')
  const provider = gateway === 'other' ? 'gateway_a' : gateway
  const address = gateway === 'other' ? baseUrl.trim() : ''
  return {
    ...(isFree('apiKey') && apiKey.trim() && { apiKey: apiKey.trim() }),
    ...(isFree('baseUrl') && address !== valueOf(settings, 'baseUrl') && { baseUrl: address || null }),
    ...(isFree('model') && { model: model.trim() ? `${provider}:${model.trim()}` : null }),
  }
}
