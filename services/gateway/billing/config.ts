import { optional, secret } from '#shared/config/setting.ts'

/** What the cloud edition's billing needs to know; without effect in every other edition. */
export const billingSettings = {
  SVC_BILLING_SERVER: optional(
    'Address where people of the cloud edition manage what they pay; no effect in other editions.',
  ),
  BILLING_ACCESS_TOKEN: secret(
    'Token of the billing server, for processes of the cloud edition that ask it; nothing in this product does.',
  ),
  BILLING_WEBHOOK_SECRET: secret(
    'Secret of the billing server’s webhooks, for processes of the cloud edition that take them; nothing in this product does.',
  ),
} as const
