import { chatApplicationSigning } from '#shared/config/chat-application.ts'
import { signingKey } from '#shared/config/setting.ts'

/** What lets those in who sign what they send. */
export const webhookSettings = {
  ...chatApplicationSigning,
  REPO_HOST_WEBHOOK_SECRET: signingKey(
    'Secret of the webhook of the repository host (GitHub): deployments, releases and pushes to the default branch that it signs are taken at /api/webhooks/repository and marked on charts.',
  ),
} as const
