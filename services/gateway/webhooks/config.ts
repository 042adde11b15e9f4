import { chatApplicationSigning } from '#shared/config/shared-settings.ts'
import { signingKey } from '#shared/config/setting.ts'
import { svixSecret } from './signature.ts'

/** What lets those in who sign what they send. */
export const webhookSettings = {
  ...chatApplicationSigning,
  REPO_HOST_WEBHOOK_SECRET: signingKey(
    'Secret of the GitHub webhook. Signed deployments, releases and pushes to the default branch are received at /api/webhooks/repository and annotated on charts.',
  ),
  IDP_WEBHOOK_SECRET: svixSecret(
    'Secret of the Clerk webhook. Deleted users and ended sessions are received at /api/webhooks/identity-provider and lose access at once.',
  ),
} as const
