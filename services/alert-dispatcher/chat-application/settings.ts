import { slackSigningSettings } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { optionalTextSetting, parseSettings, secretSetting, urlSetting } from '#shared/config/setting.ts'
import { encryptionKeySetting } from '#shared/seal/config.ts'

/** Settings of the Slack application. */
export const chatApplicationSettings = {
  ...slackSigningSettings,
  CHATAPP_CLIENT_ID: optionalTextSetting('Client ID of the Slack application, used to install it in a channel.'),
  CHATAPP_CLIENT_SECRET: secretSetting('Client secret of the Slack application.'),
  CHATAPP_OAUTH_REDIRECT_URL: urlSetting(
    'OAuth redirect URL as configured in the Slack application: the public URL plus /api/v1/health/chat-application/callback.',
    { protocols: ['https'] },
  ),
  CHATAPP_TOKEN_ENCRYPTION_KEY: encryptionKeySetting(
    'Encryption key for the tokens and URLs of Slack installations; without it the application cannot be installed.',
  ),
} as const

/** Settings that an installation requires. */
export interface InstallSettings {
  clientId: string
  clientSecret: string
  redirectUrl: string
}

/** Returns the settings for an installation, or the names of missing variables. */
export const readInstallSettings = (env: Environment): InstallSettings | { missing: string[] } => {
  const values = parseSettings(chatApplicationSettings, env)
  const { CHATAPP_CLIENT_ID: clientId, CHATAPP_CLIENT_SECRET: clientSecret } = values
  const redirectUrl = values.CHATAPP_OAUTH_REDIRECT_URL?.href
  const isEncrypted = values.CHATAPP_TOKEN_ENCRYPTION_KEY !== undefined
  if (clientId !== undefined && clientSecret !== undefined && redirectUrl !== undefined && isEncrypted)
    return { clientId, clientSecret, redirectUrl }
  const needed = [
    'CHATAPP_CLIENT_ID',
    'CHATAPP_CLIENT_SECRET',
    'CHATAPP_OAUTH_REDIRECT_URL',
    'CHATAPP_TOKEN_ENCRYPTION_KEY',
  ] as const
  return { missing: needed.filter((name) => values[name] === undefined) }
}
