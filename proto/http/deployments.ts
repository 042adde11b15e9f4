import { z } from 'zod'
import { Deployment, maxDeploymentsListed } from '../deployments.ts'
import { createResponseSchema } from './response.ts'
import { windowOrderIssue, isWindowOrdered, timeRangeParameters, createIntegerParameter } from './parameters.ts'

/** `GET /api/v1/deployments`, with times in epoch seconds as in charts. */
export const DeploymentsQuery = z
  .strictObject({
    from: timeRangeParameters.from,
    to: timeRangeParameters.to,
    limit: createIntegerParameter(1, maxDeploymentsListed).default(100),
  })
  .refine(isWindowOrdered, windowOrderIssue)

/** Response of `GET /api/v1/deployments`, newest first. */
export const DeploymentsResponse = createResponseSchema(z.array(Deployment), z.object({ count: z.int() }))

/** The body of a webhook of a repository host. Its fields depend on the event. */
export const RepositoryHookBody = z.looseObject({})

/**
 * Response of `POST /api/webhooks/repository`: whether the event is stored as a deployment, and the reason if not.
 */
export const RepositoryHookResponse = createResponseSchema(
  z.object({ kept: z.boolean(), reason: z.string().nullable() }),
  z.object({}),
)
