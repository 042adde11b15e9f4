import { chatApplicationSigning } from '#shared/config/shared-settings.ts'
import { signingKey } from '#shared/config/setting.ts'
import { svixSecret } from './signature.ts'

/** What lets those in who sign what they send. */
export const webhookSettings = {
  ...chatApplicationSigning,
  REPO_HOST_WEBHOOK_SECRET: signingKey(
    'Secret of the webhook of the repository host (GitHub): deployments, releases and pushes to the default branch that it signs are taken at /api/webhooks/repository and marked on charts.',
  ),
  IDP_WEBHOOK_SECRET: svixSecret(
    'Secret of the webhook of the identity provider (Clerk): at /api/webhooks/identity-provider it tells of people who were deleted and of sessions that ended, which then open nothing any more.',
  ),
} as const
