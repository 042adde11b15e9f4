import { BillingAnswer } from '#proto/http/billing.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { billingOf } from '../billing/billing.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

export const billing = getRoute({
  path: '/api/v1/billing',
  doc: 'Whether people are billed, and where they see what they pay; outside the cloud edition nobody is',
  feature: 'BILLING',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: BillingAnswer,
  handle: async (_asked, { env, build }) => success(billingOf(env, build), {}),
})
