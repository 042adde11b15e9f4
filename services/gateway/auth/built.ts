import type { BuildFacts } from '#proto/http/build.ts'
import { read, type Values } from '#shared/config/setting.ts'
import { authSettings } from './config.ts'

const builtSettings = {
  CLIENT_AUTH_PROVIDER: authSettings.SVC_AUTH_PROVIDER,
  CLIENT_IDP_PUBLISHABLE_KEY: authSettings.SVC_IDP_PUBLISHABLE_KEY,
} as const

/** What the build says of signing in; throws `InvalidSettings` for what cannot be meant, which must not read as nothing. */
export const builtAuth = (build: BuildFacts | undefined): Values<typeof builtSettings> => {
  const { CLIENT_AUTH_PROVIDER, CLIENT_IDP_PUBLISHABLE_KEY } = build?.client ?? {}
  return read(builtSettings, {
    CLIENT_AUTH_PROVIDER: CLIENT_AUTH_PROVIDER ?? undefined,
    CLIENT_IDP_PUBLISHABLE_KEY: CLIENT_IDP_PUBLISHABLE_KEY ?? undefined,
  })
}
