import type { ModelProvider } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, type Setting } from '#shared/config/setting.ts'

/** Returns a setting whose value is valid in an HTTP header field. */
const createHeaderSetting = (fallback: string | undefined, doc: string): Setting<string | undefined> => ({
  doc,
  audience: 'server',
  fallback: fallback ?? 'none',
  allowed: 'printable ASCII',
  parse: (value) => {
    const text = value?.trim() ?? fallback
    if (text !== undefined && !/^[\x20-\x7e]{1,256}$/.test(text))
      throw new Error('must be printable ASCII, at most 256 characters')
    return text
  },
})

/** Settings for the headers with which gateways attribute usage to an application. */
export const attributionSettings = {
  GATEWAY_A_REFERER: createHeaderSetting(undefined, 'Referer sent to OpenRouter; APP_REFERER by default.'),
  GATEWAY_A_APP_NAME: createHeaderSetting(undefined, 'Application name sent to OpenRouter; APP_NAME by default.'),
  APP_REFERER: createHeaderSetting(
    undefined,
    'Referer sent to model providers; by default GATEWAY_A_REFERER, else https://watchhouse.example.',
  ),
  APP_NAME: createHeaderSetting(
    undefined,
    'Application name sent to model providers; by default GATEWAY_A_APP_NAME, else Watchhouse.',
  ),
  APP_SOURCE: createHeaderSetting('watchhouse', 'Source name under which AnyRouter groups usage.'),
  APP_CATEGORY: createHeaderSetting('programming-app', 'Application category sent to model providers.'),
  APP_VERSION: createHeaderSetting(
    '0.2.0',
    'Application version sent to model providers; on edge platforms also the ui version of GET /api/version.',
  ),
} as const

const defaultReferer = 'https://watchhouse.example'
const defaultName = 'Watchhouse'

/** Returns the attribution headers for requests to a gateway. They contain nothing about the user. */
export const createAttributionHeaders = (env: Environment, provider: ModelProvider): Record<string, string> => {
  const settings = parseSettings(attributionSettings, env)
  const { GATEWAY_A_REFERER: refererA, GATEWAY_A_APP_NAME: nameA } = settings
  const referer = settings.APP_REFERER ?? refererA ?? defaultReferer
  const name = settings.APP_NAME ?? nameA ?? defaultName
  switch (provider) {
    case 'gateway_a':
      return removeUndefined({
        'HTTP-Referer': refererA ?? referer,
        'X-OpenRouter-Title': nameA ?? name,
        'X-OpenRouter-Categories': settings.APP_CATEGORY,
      })
    case 'gateway_b':
      return { 'HTTP-Referer': referer, 'X-Title': name }
    case 'gateway_c':
      return removeUndefined({
        'HTTP-Referer': referer,
        'X-AnyRouter-Title': name,
        'X-AnyRouter-Source': settings.APP_SOURCE,
        'X-AnyRouter-Categories': settings.APP_CATEGORY,
        'X-AnyRouter-Version': settings.APP_VERSION,
      })
  }
}

const removeUndefined = (headers: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
