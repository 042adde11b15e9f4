import { signingKey } from '#shared/config/setting.ts'

/** What API keys obey. */
export const keySettings = {
  SVC_API_KEY_SECRET: signingKey(
    "Signs `svc_` keys and is the operator's bearer for issuing them; setting it turns API keys on beside any provider.",
  ),
} as const
