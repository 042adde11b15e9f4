import { chatApplicationSigning } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { optional, read, secret, url } from '#shared/config/setting.ts'
import { encryptionKey } from '#shared/seal/config.ts'

/** What the chat application obeys. */
export const chatApplicationSettings = {
  ...chatApplicationSigning,
  CHATAPP_CLIENT_ID: optional('Client id of the chat application (Slack), with which people install it for a chat.'),
  CHATAPP_CLIENT_SECRET: secret('Client secret of the chat application, shown to the chat service alone.'),
  CHATAPP_OAUTH_REDIRECT_URL: url(
    'Where the chat service sends people back to, as its settings name it: the public address with /api/v1/health/chat-application/callback.',
    { protocols: ['https'] },
  ),
  CHATAPP_TOKEN_ENCRYPTION_KEY: encryptionKey(
    'Encrypts the tokens and addresses that the chat service gives for an installation; without it nothing is installed.',
  ),
} as const

/** What an installation needs, all of it set. */
export interface Installing {
  clientId: string
  clientSecret: string
  redirectUrl: string
}

/** All that is needed to install, or the variables that are missing. */
export const installing = (env: Environment): Installing | { missing: string[] } => {
  const given = read(chatApplicationSettings, env)
  const { CHATAPP_CLIENT_ID: clientId, CHATAPP_CLIENT_SECRET: clientSecret } = given
  const redirectUrl = given.CHATAPP_OAUTH_REDIRECT_URL?.href
  const isEncrypted = given.CHATAPP_TOKEN_ENCRYPTION_KEY !== undefined
  if (clientId !== undefined && clientSecret !== undefined && redirectUrl !== undefined && isEncrypted)
    return { clientId, clientSecret, redirectUrl }
  const needed = [
    'CHATAPP_CLIENT_ID',
    'CHATAPP_CLIENT_SECRET',
    'CHATAPP_OAUTH_REDIRECT_URL',
    'CHATAPP_TOKEN_ENCRYPTION_KEY',
  ] as const
  return { missing: needed.filter((name) => given[name] === undefined) }
}
